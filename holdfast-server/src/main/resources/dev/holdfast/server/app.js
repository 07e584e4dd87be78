"use strict";
const table = document.querySelector("table");
const rows = document.querySelector("tbody");
const message = document.getElementById("message");

function cell(row, text, name) {
  const td = row.insertCell();
  td.textContent = text ?? "";
  if (name) td.className = name;
}

async function show() {
  const headers = { "X-Holdfast-Tenant": document.getElementById("tenant").value || "default" };
  const token = document.getElementById("token").value;
  if (token) headers.Authorization = "Bearer " + token;
  const answer = await fetch("/api/v1/jobs?limit=100", { headers });
  const body = await answer.json();
  if (!answer.ok) {
    table.hidden = true;
    message.textContent = body.detail;
    return;
  }
  rows.replaceChildren();
  for (const job of body.jobs) {
    const row = rows.insertRow();
    cell(row, job.state, job.state);
    cell(row, job.kind);
    cell(row, job.queue);
    cell(row, job.attempt + " of " + job.max_attempts);
    cell(row, job.lease && job.lease.owner);
    cell(row, new Date(job.created_at).toLocaleString());
    cell(row, job.id, "id");
    cell(row, job.error_message);
  }
  table.hidden = false;
  message.textContent = body.jobs.length + " jobs, newest first" + (body.after ? " (there are more)" : "");
}

document.getElementById("login").addEventListener("submit", (event) => {
  event.preventDefault();
  show().catch((error) => { message.textContent = String(error); });
});
// The server's first start prints an address with a token, which should not stay in the bar.
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  document.getElementById("token").value = given;
  history.replaceState(null, "", location.pathname);
}
show().catch(() => {});
