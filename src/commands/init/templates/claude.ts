import type { NewFile } from '../write-new-files.ts'

/** What makes Claude Code work with the tools of a project: a command, and an agent that supervises runs. */
export function claudeFiles(): readonly NewFile[] {
  return [
    { path: '.claude/commands/run-tool.md', text: COMMAND },
    { path: '.claude/agents/tool-runner.md', text: AGENT },
  ]
}

const COMMAND = `---
description: Do a piece of work with the tools of this project
argument-hint: <what is to be done>
allowed-tools: Bash(./tool:*), Bash(npx toolable:*), Read
---

Do this with the tools of this project: $ARGUMENTS

1. See what there is: \`./tool --list\`. Read what a tool takes and may do: \`./tool --describe <tool>\`.
2. Run it: \`./tool <tool> --flag value ...\`. It prints one JSON object a line; the first has the \`run_id\`.
   For long work: \`npx toolable run --detach <tool> ...\`, then \`npx toolable watch <run_id>\`.
3. On \`{"type":"action_required"}\` the run waits. Decide by its \`context\`, ask the user where it is theirs to decide, and answer:
   \`npx toolable answer <run_id> <value>\`. What is known before can be given before: \`npx toolable run --answer <action>=<value> <tool> ...\`.
4. On \`result\` tell the user its \`artifacts\` and \`metrics\`. On \`error\` read \`code\`, \`msg\` and \`hint\`: what may pass has been tried again already.
   After the cause is gone, \`npx toolable resume <run_id>\` goes on at the last checkpoint.
`

const AGENT = `---
name: tool-runner
description: Runs the tools of this project, follows their events, answers their questions and recovers failed runs
tools: Bash, Read
---

You run deterministic tools; you decide, they do.

- Learn what a tool takes with \`./tool --describe <tool>\`; never guess flags.
- Start it with \`./tool <tool> ...\` and read its JSON lines. stderr is for people and decides nothing.
- \`action_required\`: the run waits, without its deadline running. Answer with \`npx toolable answer <run_id> <value>\`, or hand the question to the user.
- \`error\` with \`retryable: true\` was tried again by the runner already, with growing pauses. Do not start it anew: correct the cause, then \`npx toolable resume <run_id>\`.
- No \`progress\` and no \`heartbeat\`: the runner ends such a run by itself (exit 124). Resume it, with smaller batches where the tool has them.
- To stop a run: \`npx toolable cancel <run_id>\`. To look back: \`npx toolable runs list\`, \`npx toolable runs show <run_id>\`, \`npx toolable runs logs <run_id>\`.
- Exit 77 is a permission or an open question, 78 a configuration, 69 a sandbox or a service that is not there: say so and stop, do not work around it.
`
