/**
 * The dashboard: pages that the server renders with the same classes that answer the API, and forms
 * that call the API's own routes.
 */
@NullMarked
package dev.holdfast.server.ui;

import org.jspecify.annotations.NullMarked;
