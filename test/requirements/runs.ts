/** The promises of section 7 of the specification about the record of runs. */
export const RUNS: { readonly [name: string]: string } = {
  'log-stamped':
    'Every line of a record carries v, ts, run_id, seq and attempt, and a tool cannot say another run, number or attempt, not even by a key that stands twice.',
  'log-batches':
    'What is appended in one turn leaves in one write, and only what is written is mirrored.',
  'log-reopened':
    'A record that is opened again goes on where it stopped, with where its run stands.',
  'log-redacted': 'Secrets are taken out of every line, and every line stays one.',
  'log-cut-anywhere':
    'A record that is cut at any byte, or ends in garbage, opens without an error, keeps every acknowledged event and never says completed.',
  'log-followed':
    'A record can be followed while it is written, across lines that are torn and written anew.',
  'log-killed':
    'A runner that is killed at any write of its record loses nothing that was acknowledged.',
  'log-disk-errors':
    'A write or sync that fails is a structured failure, never a false success, and the record stays valid.',
  'log-disk-full':
    'A full disk is DISK_FULL; the record stays valid, its end still finds room, and it works again when there is space.',
  'run-folder':
    'Runs lie in .runs beside the nearest configuration, else in the current directory; a run inside a run lies beside it, and each has a folder for its owner only.',
  'run-named':
    'A run is named by its id, by a beginning that is its own, or by latest; no name leads out of the folder.',
  'run-lock': 'A run has one runner at a time; the lock of a process that is gone holds nobody up.',
  'run-interrupted':
    'A run whose runner died is finished as failed with INTERRUPTED by the next start, and what it left running is killed by number and start.',
  'runs-list':
    'runs list gives the runs, newest first, by state and tool, a table for people and JSON for agents.',
  'runs-show':
    'runs show sums up one run: state, progress, questions, result or error, artifacts; of very many steps of a workflow those that failed are shown, and the rest is counted.',
  'runs-logs':
    'runs logs prints the record of a run, by type and number, and what went to stderr; --follow goes on until it is over.',
  'runs-clean':
    'runs clean removes runs that are over after a confirmation, never one that is going on, and --dry-run shows them.',
  watch: 'watch follows one or more runs until they are over and ends with the status of the run.',
}
