// What the machine that runs the tests says about its caller, its colours or its continuous
// integration is no input of a test.
const telling =
  /^(CI|GITHUB_ACTIONS|NO_COLOR|FORCE_COLOR|TOOLABLE_.*|TYPER_AGENT_OUTPUT|CLAUDECODE|CLAUDE_CODE_.*|CURSOR_.*|CODEX_.*|GEMINI_CLI|AI_AGENT|RUN_ID|RUN_STDOUT|AI_PROTOCOL_VERSION)$/

for (const name of Object.keys(process.env)) {
  if (telling.test(name)) delete process.env[name]
}
