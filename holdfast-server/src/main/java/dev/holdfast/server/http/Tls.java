package dev.holdfast.server.http;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/**
 * TLS with two PEM files, as other servers take them.
 *
 * @param certificate the file with the certificate and its chain
 * @param key the file with the key in PKCS #8, not encrypted
 */
public record Tls(Path certificate, Path key) {

  private static final char[] IN_MEMORY = "in-memory".toCharArray();

  ServerConnector connector(Server server, HttpConfiguration http) {
    HttpConfiguration secure = new HttpConfiguration(http);
    secure.addCustomizer(new SecureRequestCustomizer(false));
    SslContextFactory.Server context = new SslContextFactory.Server();
    context.setKeyStore(keyStore());
    context.setKeyStorePassword(new String(IN_MEMORY));
    return new ServerConnector(
        server,
        new SslConnectionFactory(context, HttpVersion.HTTP_1_1.asString()),
        new HttpConnectionFactory(secure));
  }

  private KeyStore keyStore() {
    try (InputStream chain = Files.newInputStream(certificate)) {
      Collection<? extends Certificate> certificates =
          CertificateFactory.getInstance("X.509").generateCertificates(chain);
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, IN_MEMORY);
      store.setKeyEntry(
          "holdfast", privateKey(), IN_MEMORY, certificates.toArray(Certificate[]::new));
      return store;
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      // The last is how a key says that it is no Base64, and a store that a chain is empty.
      throw HoldfastException.badConfig(
          "tls", certificate + ", " + key, "a certificate and its PKCS #8 key, both PEM: " + e);
    }
  }

  private PrivateKey privateKey() throws IOException, GeneralSecurityException {
    String pem = Files.readString(key);
    String base64 =
        pem.replaceAll("(?s).*-----BEGIN PRIVATE KEY-----", "")
            .replaceAll("(?s)-----END PRIVATE KEY-----.*", "");
    PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(base64));
    for (String algorithm : new String[] {"RSA", "EC", "Ed25519"}) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (GeneralSecurityException e) {
        // a key of another algorithm
      }
    }
    throw new GeneralSecurityException("not a private key in PKCS #8");
  }
}
