/** The promises of section 10 of the specification about the page of one run. */
export const VIEWS_RUN_PAGE: { readonly [name: string]: string } = {
  'graph-model':
    'A definition is drawn as boxes and frames with what follows what, what takes back what, and what uses what.',
  'graph-states':
    'Each box of a graph shows how its step stands in a run; one for the items of a list collects them.',
  'timeline-rows':
    'Attempts, steps and children of a run are rows over time, by state; what is not over reaches to now.',
  'timeline-scale':
    'Idle stretches are folded, and the scale leads from moments to places and back.',
  'ansi-safe':
    'Colours of a log are shown as looks of the page, and nothing else that a terminal would obey is left.',
  'run-diff': 'The result of a run is compared with that of the attempt before it, place by place.',
  'graph-layout':
    'Boxes of a graph have places that do not touch: what follows is below, what is at the same time is beside, and frames hold what is in them.',
  'run-live':
    'The page of a run moves with it: its state, its bar, its steps, its timeline and its events.',
  'run-actions': 'A run is cancelled from its page, after a question.',
  'run-question': 'A run that waits shows its question, which is answered in place.',
  'run-failure':
    'A failed run begins with code, message, hint, class, whether a retry may pass, the failing step and the last lines; also on a narrow dark page.',
  'run-retry':
    'A run is started again with another input, from a form that holds the one that it had.',
  'run-artifacts':
    'An artifact is downloaded, and hashed again on request: one that was changed is told.',
  'run-tabs':
    'Attempts with their causes, environment and rights, children and parent have their tabs, and the whole is exported as one file.',
  'run-brush': 'A stretch of the timeline filters the events, and the address holds it.',
  'run-untrusted':
    'Nothing that a tool says is obeyed by the page: not in output, log lines, names of artifacts, nor by sequences for terminals.',
  'run-many-events':
    'Of a run with 100,000 events any place is reached by scrolling, and only what is in sight is drawn.',
  'run-event-filters':
    'Events are filtered by type, level, step and text, and the address holds the filter.',
  'run-graph':
    'The graph of a workflow follows its run node by node, items of lists collected, and a step is selected everywhere.',
}
