/** The promises of section 9 of the specification about executions as runs, and their steps. */
export const WORKFLOW_RUNS: { readonly [name: string]: string } = {
  'child-runs':
    'A step whose tool is a program is a run of its own, linked to its workflow, under an id that follows from the step.',
  'child-taken':
    'An end that is on record is taken, a failure of an earlier try is not, and a run whose runner died is performed again in its own folder.',
  'child-joined':
    'What is at work under the key of a step is joined, in this process and in another one.',
  'cancel-reaches': 'Cancelling reaches every child, whose tree is dead before the step is over.',
  'task-events': 'The task events of the orchestration are told, with the runs of the children.',
  'step-calls':
    'Tools that are no programs are called, words are read by their own flags, and an unknown tool is told with the one that was meant.',
  'step-questions': 'What a tool asks its workflow asks, and the answer goes to the tool.',
  'step-permissions':
    'Permissions of a step can only take away; what says nothing of its own is held to them.',
  'workflow-run':
    'workflow run executes a definition as a run: events as JSON lines or words, its result, its exit status, its steps in runs show.',
  'workflow-run-input':
    'The input of a workflow is key=value, JSON, @file or stdin, and what does not fit is told before anything begins, as are unknown tools.',
  'workflow-dry-run':
    'workflow run --dry-run answers with the plan for its input, resume refuses a dry run, and neither acts.',
  'workflow-consent':
    'workflow run wants the consent that run wants where one of its tools is destructive: --yes, or a person who is asked; on every engine, detached too.',
  'run-once':
    'With an idempotency key, run and workflow run do the work once: the same request joins the run or gets its record, another one is a CONFLICT, and what failed is done anew.',
  'workflow-killed':
    'A workflow that is killed with -9 in any kind of step goes on after resume, with the same output, and no recorded step is run again.',
  'workflow-ended':
    'SIGTERM and SIGHUP end the tools of a workflow and leave it as it is, with 143 and 129 and the command that goes on; no step counts as failed, and nothing is taken back.',
  'workflow-answer-left':
    'A workflow that nobody performs takes an answer for its next attempt; a second answer is a CONFLICT.',
  'workflow-unanswered':
    'Where nobody can answer, a workflow stops as it is, names the command that goes on, and goes on there.',
  'workflow-cancel':
    'A cancelled workflow ends its children, takes back what it did, and is cancelled with 130; one that nobody performs can be cancelled too.',
  'workflow-one-resumes':
    'Of two who resume a workflow one wins, and the other names the process that has it.',
  'workflow-over': 'A workflow that came to its end is not resumed.',
  'workflow-resume-all':
    'workflow resume without a run goes on with every workflow that was interrupted.',
  'workflow-list':
    'workflow list gives the executions with name, state, time and duration, by name and state.',
  'workflow-seed':
    'The workflow of the orchestration specification runs as written, its ./tool lines too.',
  'workflow-no-deadline': 'A workflow has no deadline but that of its definition or its caller.',
}
