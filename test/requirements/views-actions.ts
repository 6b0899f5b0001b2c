/**
 * The promises of section 10 of the specification about what a dashboard can do, and what it knows
 * besides runs.
 */
export const VIEWS_ACTIONS: { readonly [name: string]: string } = {
  'actions-start':
    'A run that is started from a dashboard is like any other: of a program, a module, an MCP server or a workflow, on record, with who asked for it.',
  'actions-outlive': 'What a dashboard starts goes on when the dashboard is killed.',
  'actions-refused':
    'A wrong input, missing consent and a dry run of a tool that has none are refused before anything is on record, in the words of every other surface.',
  'actions-fresh':
    'A tool that came or changed after the dashboard was opened is started as it is now.',
  'actions-dry-run': 'A dry run from a dashboard plans, and does not act.',
  'actions-cancel': 'A run is cancelled without waiting for its end, and the record says why.',
  'actions-resume':
    'A run that failed goes on in a process of its own; of two who want that at once one gets it.',
  'actions-retry':
    'A run is started again under a new id, with what it got or another input, and with the same limits, level, answers and secrets.',
  'actions-answer':
    'An answer is on record with who gave it and what he said about it; whoever comes second learns who was first.',
  'actions-left':
    'A workflow that nobody performs takes an answer and goes on, or is cancelled and takes back what it did, both in the background.',
  'actions-clean': 'Runs that are over for so many days are removed, and no others.',
  'catalogue-tools':
    'Tools are listed with source, health, rights in words, and how their runs of a week went; what is no tool, with its reason.',
  'catalogue-live':
    'A source that does not answer delays nobody; folders are watched, and a look again reads the configuration anew.',
  'catalogue-tool':
    'A tool is shown by its help, JSON Schema, MCP definition and skill, as the command line gives them.',
  'catalogue-preview':
    'An input is checked before a run, each problem with its path, and the command beside it does the same when it is pasted.',
  'catalogue-workflows':
    'A workflow is shown as it is written, as a graph and as a plan, with a grid of steps and last runs; a broken one with its first problem.',
  'catalogue-doctor':
    'The doctor of a dashboard finds what the command finds, and tells the disk of the runs, agents and versions.',
}

/** Those of section 7 that came with it. */
export const RUN_ASKED: { readonly [name: string]: string } = {
  'run-caller':
    'A run says who asked for it: a person at a terminal, an agent by its name, a workflow, a dashboard.',
  'run-dry':
    'toolable run --dry-run plans and does not act, and refuses a tool that could not be told.',
}
