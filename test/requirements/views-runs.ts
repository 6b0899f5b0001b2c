/** The promises of section 10 of the specification about how views see the runs of a folder. */
export const VIEWS_RUNS: { readonly [name: string]: string } = {
  'index-many':
    'Ten thousand runs are listed newest first, by filters, with counts; the first page is there before the last run is read, and a row takes little memory.',
  'index-pages': 'Pages follow each other without a gap or a double, whatever comes in between.',
  'index-cache':
    'Rows of runs that are over are kept for the next start, and count only while their runs are as they were; a damaged or foreign file is nothing.',
  'index-live':
    'Runs that come, go on, ask, end, are resumed or removed are news at once; whoever is slow gets fewer and fuller pieces.',
  'index-interrupted':
    'A run whose runner dies while somebody looks on is finished as INTERRUPTED.',
  'index-damaged': 'A damaged run hides no other one.',
  'run-detail':
    'One run tells what was asked of it, without anything secret, what came of it, what it left, and the commands that start it again or go on.',
  'run-events':
    'Any page of a hundred thousand events is found quickly, by number or filter; following a run loses and doubles none, also under a flood.',
  'run-logs': 'The logs of a run are read by line numbers, also from the end.',
  'run-artifacts':
    'Artifacts come only from the folder of the run, and their hashes are compared with the record.',
  'run-decisions':
    'Questions that are open, also of workflows that nobody performs, and the last that were settled are listed with who answered what.',
  'run-light': 'Executions without a folder of their own are seen like runs.',
}
