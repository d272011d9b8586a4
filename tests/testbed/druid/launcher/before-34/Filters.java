// Copyright (c) 2026, druidops contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

import com.google.inject.Injector;
import com.google.inject.Key;
import com.google.inject.servlet.GuiceFilter;
import java.lang.reflect.Field;
import java.util.Collections;
import java.util.Enumeration;
import javax.servlet.FilterConfig;
import javax.servlet.ServletContext;
import javax.servlet.ServletException;
import org.apache.druid.guice.annotations.RemoteChatHandler;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.FilterHolder;
import org.eclipse.jetty.servlet.ServletHandler;

/**
 * Gives each server's filters the resources of that server.
 *
 * Up to Druid 33 they are made without an injector and then share one static field: every server in a JVM would answer
 * with the resources of the one that was started last.
 */
final class Filters {
  private Filters() {}

  static void separate(Injector injector) {
    for (Handler handler : jetty(injector).getChildHandlersByClass(ServletHandler.class)) {
      ServletHandler servlets = (ServletHandler) handler;
      for (FilterHolder holder : servlets.getFilters()) {
        if (holder.getFilter() instanceof GuiceFilter) {
          separate((GuiceFilter) holder.getFilter(), injector, servlets.getServletContext());
        }
      }
    }
  }

  private static Server jetty(Injector injector) {
    Key<Server> ofIndexer = Key.get(Server.class, RemoteChatHandler.class);
    return injector.getInstance(injector.getExistingBinding(ofIndexer) == null ? Key.get(Server.class) : ofIndexer);
  }

  private static void separate(GuiceFilter filter, Injector injector, ServletContext context) {
    try {
      GuiceFilter own = injector.getInstance(GuiceFilter.class);
      own.init(new Configuration(context));
      Field pipeline = GuiceFilter.class.getDeclaredField("injectedPipeline");
      pipeline.setAccessible(true);
      pipeline.set(filter, pipeline.get(own));
    } catch (ReflectiveOperationException | ServletException error) {
      throw new IllegalStateException(error);
    }
  }

  /** The configuration of a filter: its context, and no parameters. */
  private static final class Configuration implements FilterConfig {
    private final ServletContext context;

    Configuration(ServletContext context) {
      this.context = context;
    }

    @Override
    public String getFilterName() {
      return GuiceFilter.class.getName();
    }

    @Override
    public ServletContext getServletContext() {
      return context;
    }

    @Override
    public String getInitParameter(String name) {
      return null;
    }

    @Override
    public Enumeration<String> getInitParameterNames() {
      return Collections.emptyEnumeration();
    }
  }
}
