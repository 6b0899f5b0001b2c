/** The promises of section 10 of the specification about what is drawn: models over events. */
export const VIEWS_MODEL: { readonly [name: string]: string } = {
  'model-pure':
    'The model of a run follows from its events alone: in one piece, bit by bit, and through JSON it is the same.',
  'model-steps':
    'Steps of workflows, tasks of orchestrators and stages of tools are one tree, with tries, waits, percentages and runs.',
  'model-attempts':
    'Attempts keep their cause, their end and their time; what belonged to one is forgotten in the next, and waiting is not counted.',
  'model-bounded':
    'A model stays small whatever a tool says; of very many steps it keeps those that failed, that are going on, and those of the workflow itself, and counts the rest.',
  'run-filters':
    'Filters of runs are in the address: state, tool, workflow, caller, time, words, artifacts, questions, error.',
  'page-size':
    'No screen of the dashboard loads more than 45 kB of script and 10 kB of styles, compressed, and nothing comes from elsewhere.',
}
