// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

import com.google.inject.Injector;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.druid.cli.CliBroker;
import org.apache.druid.cli.CliCoordinator;
import org.apache.druid.cli.CliHistorical;
import org.apache.druid.cli.CliIndexer;
import org.apache.druid.cli.CliMiddleManager;
import org.apache.druid.cli.CliRouter;
import org.apache.druid.cli.ServerRunnable;
import org.apache.druid.guice.StartupInjectorBuilder;
import org.apache.druid.java.util.common.lifecycle.Lifecycle;

/** One of Druid's servers, as "org.apache.druid.cli.Main server NAME" runs it, with settings and an injector of its own. */
final class DruidServer {
  private DruidServer() {}

  /** Returns when the server has started. A second one of a type has a number in its name: historical-2. */
  static void start(String name, Properties settings) throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    ServerRunnable server = server(name.split("-")[0], injector -> {
      Filters.separate(injector);
      started.countDown();
    });
    new StartupInjectorBuilder().withProperties(settings).withExtensions().build().injectMembers(server);
    Launcher.run(name, DruidServer.class.getClassLoader(), server);
    started.await();
  }

  private interface Started {
    void with(Injector injector);
  }

  private static ServerRunnable server(String name, Started started) {
    switch (name) {
      case "coordinator":
        return new CliCoordinator() {
          @Override
          public Lifecycle initLifecycle(Injector injector) {
            return after(super.initLifecycle(injector), injector, started);
          }
        };
      case "broker":
        return new CliBroker() {
          @Override
          public Lifecycle initLifecycle(Injector injector) {
            return after(super.initLifecycle(injector), injector, started);
          }
        };
      case "indexer":
        return new CliIndexer() {
          @Override
          public Lifecycle initLifecycle(Injector injector) {
            return after(super.initLifecycle(injector), injector, started);
          }
        };
      case "middleManager":
        return new CliMiddleManager() {
          @Override
          public Lifecycle initLifecycle(Injector injector) {
            return after(super.initLifecycle(injector), injector, started);
          }
        };
      case "historical":
        return new CliHistorical() {
          @Override
          public Lifecycle initLifecycle(Injector injector) {
            return after(super.initLifecycle(injector), injector, started);
          }
        };
      case "router":
        return new CliRouter() {
          @Override
          public Lifecycle initLifecycle(Injector injector) {
            return after(super.initLifecycle(injector), injector, started);
          }
        };
      default:
        throw new IllegalArgumentException("no server is called " + name);
    }
  }

  private static Lifecycle after(Lifecycle lifecycle, Injector injector, Started started) {
    started.with(injector);
    return lifecycle;
  }
}
