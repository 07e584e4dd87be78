/**
 * The dashboard: pages that the server renders, from the same classes that the API answers from,
 * and forms that ask the API's own routes.
 */
@NullMarked
package dev.holdfast.server.ui;

import org.jspecify.annotations.NullMarked;
