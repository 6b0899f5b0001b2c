/** The promises of section 9 about workflows in TypeScript and workflows as tools. */
export const WORKFLOW_BUILD: { readonly [name: string]: string } = {
  'builder-types': 'In TypeScript references, inputs, conditions and results of steps are typed, at every depth.',
  'builder-data': 'What the builder makes is the data that the same workflow is in YAML.',
  'builder-references': 'A reference is its expression wherever it is used: as a value, in a text, in a condition, in JSON.',
  'builder-scopes': 'A reference outside its scope, a step in the wrong list, and what is no data are refused while the workflow is written.',
}
