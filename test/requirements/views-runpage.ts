/** The promises of section 10 of the specification about the page of one run. */
export const VIEWS_RUN_PAGE: { readonly [name: string]: string } = {
  'graph-model': 'A definition is drawn as boxes and frames with what follows what, what takes back what, and what uses what.',
  'graph-states': 'Each box of a graph shows how its step stands in a run; one for the items of a list collects them.',
  'timeline-rows': 'Attempts, steps and children of a run are rows over time, by state; what is not over reaches to now.',
  'timeline-scale': 'Idle stretches are folded, and the scale leads from moments to places and back.',
  'ansi-safe': 'Colours of a log are shown as looks of the page, and nothing else that a terminal would obey is left.',
  'run-diff': 'The result of a run is compared with that of the attempt before it, place by place.',
  'graph-layout': 'Boxes of a graph have places that do not touch: what follows is below, what is at the same time is beside, and frames hold what is in them.',
}
