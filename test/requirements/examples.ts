/**
 * The promises of section 7 about tools under the runner, in every language, and about beginning a
 * project.
 */
export const EXAMPLES: { readonly [name: string]: string } = {
  'emitter-answers':
    'A tool of every language asks by action_required, waits for the line with the answer, and fails with ANSWER_REQUIRED where nobody answers.',
  'emitter-checkpoints':
    'Checkpoints lie in WORKSPACE/.checkpoints/<stage>.json as {stage, data}, are replaced whole, and a damaged one is told.',
  'emitter-cancel': 'A cancelled tool of every language ends with cancelled and 130.',
  'emitter-artifacts':
    'Tools read their secrets from files, and name what they made with its hash.',
  'emitter-stdout':
    'A program speaks the run protocol only to the runner itself, not to whoever inherits its variables.',
  'emitter-heartbeats': 'Heartbeats come by themselves while a tool works.',
  'seed-commands':
    "The commands of the orchestration's specification run as they stand there: ./tool --list, --describe, <tool>, with its variables.",
  'seed-resume':
    'A run that failed in the middle is resumed at its checkpoint, and its output is the same as without the failure.',
  'seed-orchestrator':
    'An orchestrator starts other tools as runs of their own, at most max_concurrency at a time, tells about them by task_*, passes questions on, and takes them along when it is cancelled.',
  'orchestrators-only':
    'Only an orchestrator tells about tasks; it runs with the rights of its caller, which the record says, and may not have permissions besides.',
  init: 'toolable init writes ./tool, toolable.yaml, a manifest and a first tool that is checked at 100 % and runs; what is there already is never overwritten.',
  'list-and-describe':
    'toolable --list prints names, --describe <tool> the manifest as JSON, and never one that nobody wrote.',
}
