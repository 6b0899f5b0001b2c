/** The promises of section 8 of the specification about plans, and about states in files. */
export const PLANNING: { readonly [name: string]: string } = {
  'plan-setup':
    'planning_setup_plan begins a plan with an objective and steps that are numbered from 1, and replaces the one that is there.',
  'plan-add':
    'planning_add_step puts at least one step at the end of an active plan; numbers go on after the highest.',
  'plan-update':
    'planning_update_step changes title, status or both of a known step of an active plan; when all steps are done the plan is completed and closed.',
  'plan-read': 'planning_read_plan gives the plan, and fails where there is none.',
  'plan-titles': 'Titles are trimmed and have 1 to 500 characters.',
  'plan-refused':
    'What cannot be done to a plan is an error with advice, and the plan stays as it was.',
  'plan-rendered': 'A model gets the plan as a Markdown checklist, and as a value.',
  'plan-state':
    'The plan is one item of the state, replaced by each change; it rolls back, and goes through JSON and back.',
  'plan-parallel':
    'Calls at the same time lose no change of a plan: what would mean another step than was seen is a CONFLICT.',
  'plan-strategies':
    'REACT, PLAN_ACT_REFLECT and GOAL_DECOMPOSE_ROUTE_SYNTHESISE are instruction texts; REACT is the default.',
  'plan-section':
    'planning({ strategy, key, title }) is a section of a prompt with the instructions and the four tools.',
  'plan-events':
    'Every change of a plan is a progress event that carries the plan, in streams, on stderr, from tools of other processes and in the record of a run.',
  'plan-keeper': 'keepPlan(ctx) keeps a plan for a tool that plans by itself.',
  'plan-file': 'planner({ file }) gives the planning tools over a session file.',
  'plan-command':
    'toolable plan show, setup, add, update and clear work on a session file: a checklist for people, JSON for agents.',
  'plan-command-errors':
    'toolable plan says what is wrong with an id, a title, a plan or a file, with the exit status of the code.',
  'plan-mcp':
    'toolable plan serve is an MCP server with the four planning tools on a session file.',
  'state-file':
    'withStateFile lends out the state of a file and writes it back when something changed and nothing failed.',
  'state-file-refused':
    'A file that holds no state of this version is CONFIG, names the file and is left alone.',
  'state-file-turns':
    'Processes that use one state file at the same time take turns and lose nothing; a dead one holds nobody up.',
  'state-file-killed':
    'A process that is killed in the middle leaves the old file, and a later one removes what it left.',
  'state-file-disk-full': 'A full disk is DISK_FULL, and the old file stays.',
}
