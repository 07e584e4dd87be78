package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.Holdfast;
import dev.holdfast.api.FindingJson;
import dev.holdfast.doctor.Check;
import dev.holdfast.doctor.Doctor;
import dev.holdfast.doctor.Finding;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.doctor.DiskSpace;
import dev.holdfast.server.doctor.ExecutorLeases;
import dev.holdfast.server.doctor.Transport;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/** The route that checks the environment, as this node sees it. */
final class DoctorRoutes {

  private final Holdfast holdfast;
  private final List<Check> ofTheNode;

  DoctorRoutes(Holdfast holdfast, ServerConfig config) {
    this.holdfast = holdfast;
    this.ofTheNode =
        List.of(
            new Transport(config.address()),
            new DiskSpace(config.data()),
            new ExecutorLeases(holdfast, config.executors()));
  }

  List<Route> routes() {
    return List.of(
        Route.of(
                GET,
                BASE + "/doctor",
                Role.SYSTEM,
                "Looks at the database and at this node, and says what to do",
                this::examine)
            .ofAllTenants());
  }

  private Answer examine(Request request) {
    List<Finding> findings = new ArrayList<>(holdfast.doctor(InstantSource.system()).examine());
    ofTheNode.forEach(check -> findings.add(Doctor.examine(check)));
    return Answer.ok(FindingJson.write(findings));
  }
}
