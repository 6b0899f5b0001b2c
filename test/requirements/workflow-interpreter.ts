/** The promises of section 9 of the specification about how a workflow goes on its way. */
export const WORKFLOW_INTERPRETER: { readonly [name: string]: string } = {
  'interpreter-order':
    'Steps are taken in order, with the results of those before them; the last result is the output.',
  'interpreter-when': 'A step whose condition is not true is skipped, and its result is null.',
  'interpreter-command':
    'A command is split before values are put in, and a leading ./tool is dropped.',
  'interpreter-errors':
    'An expression that makes no sense fails its step before anything is started.',
  'interpreter-retry':
    'Failures that may pass are tried again after growing pauses; where a step says how often, every failure but those of input and permissions, or those of the codes and classes that it names.',
  'interpreter-on-error': 'With on_error: continue a step may fail and the workflow goes on.',
  'interpreter-compensation':
    'When a workflow fails, what its steps did is taken back, the last first.',
  'interpreter-finally': 'The steps of finally are taken however it ended.',
  'interpreter-parallel':
    'Parallel steps are never more than max_concurrency; a failure stops the others, or with on_error: continue is a null among the results.',
  'interpreter-each':
    'each takes the same steps for every item of a list, each with its own names.',
  'interpreter-timeout':
    'A step that holds others, and a workflow, is stopped when its time is over.',
  'interpreter-wait': 'wait waits for a time, until a moment, or for an answer.',
  'interpreter-cancel':
    'Cancelling ends what is under way, takes back what was done, and does not disturb what cleans up.',
  'interpreter-nested': 'A workflow in a workflow has its own names, input and end.',
  'interpreter-decision': 'A decision is a question whose id follows from its place.',
  'interpreter-replay':
    'After any number of crashes a workflow comes to the same end by the same way, and no step is recorded twice.',
}
