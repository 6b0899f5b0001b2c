/** The promises of section 9 about workflows in TypeScript and workflows as tools. */
export const WORKFLOW_BUILD: { readonly [name: string]: string } = {
  'builder-types':
    'In TypeScript references, inputs, conditions and results of steps are typed, at every depth.',
  'builder-data': 'What the builder makes is the data that the same workflow is in YAML.',
  'builder-references':
    'A reference is its expression wherever it is used: as a value, in a text, in a condition, in JSON.',
  'builder-scopes':
    'A reference outside its scope, a step in the wrong list, and what is no data are refused while the workflow is written.',
  'workflow-tools':
    'A workflow is a tool on every surface: listed, described, checked, called with its question answered by whoever calls, cancelled.',
  'workflow-tool-runs':
    'Each call of a workflow is a run on record beside the configuration, whose id is in the outcome, and which can be resumed.',
  'workflow-tool-annotations':
    'A workflow is destructive, read-only, idempotent or open to the world by what its tools are, through all workflows in it.',
  'workflow-tool-problems':
    'A broken workflow file is a problem with file, line and what to do; everything else works without it.',
  'workflow-tool-recursion':
    'A workflow that is a step of another is a run of its own with a link to it, taken up again by a resume; workflows that run each other without an end are stopped with a clear error.',
  'workflow-tool-lazy': 'A registry without workflows loads nothing of them.',
}
