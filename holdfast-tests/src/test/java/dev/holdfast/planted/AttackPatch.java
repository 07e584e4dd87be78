package dev.holdfast.planted;

import static dev.holdfast.planted.Cut.inCore;
import static dev.holdfast.planted.Cut.inExecutors;
import static dev.holdfast.planted.Cut.inServer;

import java.time.Duration;
import java.util.List;

/** Guards against silent agents, strangers, hostile input and hostile files. */
@SuppressWarnings("ImmutableEnumChecker") // nobody changes these lists
enum AttackPatch implements PlantedPatch {
  WATCHDOG_COMES_TOO_LATE(
      Trial.of(
          "executor.WatchdogTest", "a_command_of_a_frozen_worker_is_dead_before_its_lease_ends"),
      inExecutors(
          "LeaseWatch",
          "at\\(job, grace.plus\\(ending.length\\)\\)",
          "at(job, grace.plus(ending.length).negated())")),
  WATCHDOG_IS_TOLD_NOTHING_NEW(
      Trial.of(
          "executor.WatchdogTest",
          "a_command_whose_lease_is_renewed_runs_on",
          "a_watchdog_that_was_killed_or_frozen_has_a_successor_that_knows_all_groups"),
      inExecutors("Watchdog", "if \\(isClosed \\|\\| watched.isEmpty\\(\\)\\)", "if (true)")),

  ROLES_NOT_CHECKED(
      Trial.of(
          "server.AuthorisationTest",
          "every_route_lets_in_the_roles_of_the_table_and_nobody_else",
          "streams_let_in_the_roles_of_the_table_and_nobody_else"),
      inServer("http/Gate", "!principal.role\\(\\).mayDo\\(needed\\)", "false")),
  A_ROUTE_FOR_LESSER_ROLES(
      Trial.of("server.AuthorisationTest", "the_table_for_people_says_the_same"),
      inServer("api/TenantRoutes", "(GET, BASE \\+ \"/tokens\", )Role.ADMIN", "$1Role.VIEWER")),
  SIGNATURES_NOT_COMPARED(
      Trial.of(
          "server.PullSignaturesTest",
          "a_wrong_or_old_signature_is_401_and_a_replayed_one_409_on_every_node",
          "nobody_learns_by_a_wrong_signature_which_tenants_there_are_or_have_a_secret"),
      inServer(
          "dialect/pull/SignedRequest",
          "!MessageDigest.isEqual\\(said, expected\\(secret\\)\\)",
          "false")),
  SIGNATURES_USED_AGAIN(
      Trial.of(
          "server.PullSignaturesTest",
          "a_wrong_or_old_signature_is_401_and_a_replayed_one_409_on_every_node"),
      inServer("dialect/pull/Signatures", "!isNew\\(sign, by\\)", "!isNew(sign, by) && false")),

  WORK_OUTLIVES_ITS_AGENTS_LEASE(
      Trial.of(
              "agent.SilentAgentTest",
              "a_frozen_agents_container_is_dead_before_another_agent_starts_the_job",
              "a_frozen_agents_playbook_is_dead_before_another_agent_starts_the_job")
          .within(Duration.ofMinutes(20)),
      inExecutors(
          "LeaseWatch",
          "job.leaseLeft\\(\\).minus\\(before\\)",
          "job.leaseLeft().plusSeconds(30)")),

  HALF_CHARACTERS_TAKEN(
      Trial.of(
          "server.HostileInputTest",
          "no_route_fails_and_nothing_that_was_refused_is_stored",
          "what_is_not_utf_8_is_refused"),
      inServer("http/Request", "HALF.matcher\\(text\\).find\\(\\)", "false")),
  BAD_NUMBERS_FAIL_THE_SERVER(
      Trial.of(
          "server.HostileSweepTest",
          "no_request_fails_the_server_and_nothing_is_stored_that_it_did_not_say"),
      inServer(
          "http/Request",
          "throw HoldfastException.invalid\\(name, text, \"a whole number\"\\);",
          "throw e;")),
  REFUSED_ACTS_RECORDED(
      Trial.of(
          "server.HostileTracesTest",
          "a_refused_request_stores_nothing_and_neither_does_one_that_only_looks"),
      inCore(
          "queue/ActTransaction",
          "if \\(!what.isAllowed",
          "audit.write(handle, act, what.stored(), id, \"\", \"\");"
              + " handle.commit(); handle.begin(); if (!what.isAllowed")),

  PATHS_LEAD_OUT(
      Trial.of("fuzz.FuzzTest", "what_is_made_up_is_refused_or_read_as_promised"),
      inServer(
          "dialect/agents/ConfigPath",
          "NAME = Pattern.compile\\(.*\\);",
          "NAME = Pattern.compile(\"[^/]+\");")),
  SECRETS_CUT_IN_TWO_TOLD(
      Trial.of("fuzz.FuzzTest", "what_is_made_up_is_refused_or_read_as_promised"),
      inExecutors("SecretMask", "isLast \\|\\| !mayGrowIntoSecret\\(at\\)", "true")),
  LINKS_FOLLOWED_AFTER_THE_LOOK(
      Trial.of(
          "server.dialect.agents.SharedDirectoryRacesTest",
          "nothing_is_made_or_written_where_a_link_leads_that_comes_and_goes",
          "nothing_is_read_from_where_a_link_leads_that_comes_and_goes"),
      inExecutors(
          "files/OpenDirectory",
          "(newDirectoryStream\\(name|newByteChannel\\(name, Set.of\\(READ), NOFOLLOW_LINKS",
          "$1")),
  LOGS_WRITTEN_THROUGH_LINKS(
      Trial.of(
          "agent.SharedStorageTest",
          "a_link_in_place_of_a_directory_or_of_the_log_leads_nowhere",
          "nothing_is_made_or_written_where_a_link_leads_that_comes_and_goes"),
      inExecutors("files/OpenDirectory", ", NOFOLLOW_LINKS\\)", ")")),

  OTHER_TENANTS_SERVED(
      Trial.of(
          "server.TenantWallTest",
          "no_token_of_one_tenant_gets_into_another",
          "no_token_of_one_tenant_hears_what_another_ones_streams_say"),
      inServer(
          "http/Gate",
          "if \\(asked.isPresent\\(\\) && !asked.get\\(\\).equals\\(own\\)\\) \\{",
          "if (asked.isPresent()) { return asked.get(); } if (false) {")),
  NOTHING_ESCAPED(
      Trial.of(
          "server.HostilePagesTest", "two_hundred_hostile_strings_are_text_wherever_they_stand"),
      inServer(
          "ui/Html",
          "StringOutput out = new StringOutput\\(\\);",
          "class Raw extends StringOutput implements gg.jte.html.HtmlTemplateOutput {"
              + " @Override public void setContext(String tag, String attribute) {} }"
              + " Raw out = new Raw();")),
  FORMS_NEED_NO_PROOF(
      Trial.of(
          "server.SessionPagesTest",
          "a_form_without_its_proof_does_nothing",
          "a_form_of_one_tenants_page_does_nothing_in_another",
          "without_authentication_there_is_no_signing_in_and_forms_still_prove_themselves"),
      inServer("http/Gate", "if \\(!byToken && ", "if (false && ")),
  SECRETS_TOLD(
      Trial.of("server.PlantedSecretsTest", "none_of_fifty_secrets_is_told_anywhere"),
      inExecutors("SecretMask", "secrets.isEmpty\\(\\) \\? text", "true ? text"));

  private final Trial trial;
  private final List<Cut> cuts;

  AttackPatch(Trial trial, Cut... cuts) {
    this.trial = trial;
    this.cuts = List.of(cuts);
  }

  @Override
  public Trial trial() {
    return trial;
  }

  @Override
  public List<Cut> cuts() {
    return cuts;
  }
}
