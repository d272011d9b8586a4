// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

import com.fasterxml.jackson.databind.Module;
import com.google.inject.Binder;
import com.google.inject.Inject;
import java.lang.annotation.Annotation;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Properties;
import javax.net.ssl.SSLContext;
import org.apache.druid.guice.annotations.Client;
import org.apache.druid.guice.annotations.EscalatedClient;
import org.apache.druid.guice.annotations.EscalatedGlobal;
import org.apache.druid.guice.annotations.Global;
import org.apache.druid.initialization.DruidModule;
import org.apache.druid.server.router.Router;

/**
 * Lets Druid's servers speak TLS to each other with the key store and the trust store of this JVM.
 *
 * Druid leaves this to an extension. This one serves all versions, also those whose own extension cannot be had.
 */
public final class ClientTls implements DruidModule {
  private static final List<Class<? extends Annotation>> CLIENTS =
      List.of(Client.class, EscalatedClient.class, Global.class, EscalatedGlobal.class, Router.class);

  private Properties settings;

  @Inject
  void inject(Properties settings) {
    this.settings = settings;
  }

  @Override
  public List<? extends Module> getJacksonModules() {
    return List.of();
  }

  @Override
  public void configure(Binder binder) {
    if (Boolean.parseBoolean(settings.getProperty("druid.enableTlsPort"))) {
      SSLContext context = context();
      binder.bind(SSLContext.class).toInstance(context);
      for (Class<? extends Annotation> client : CLIENTS) {
        binder.bind(SSLContext.class).annotatedWith(client).toInstance(context);
      }
    }
  }

  private static SSLContext context() {
    try {
      return SSLContext.getDefault();
    } catch (NoSuchAlgorithmException error) {
      throw new IllegalStateException(error);
    }
  }
}
