/** The promises of section 9 of the specification about how workflows are written, checked and shown. */
export const WORKFLOW_DEFINITION: { readonly [name: string]: string } = {
  values: '${{ }} gives input, results of steps, workflow.id and items by keys and positions; what is not there is null, and only own keys count.',
  operators: 'Expressions have == != < <= > >= && || ! and parentheses: == compares JSON deeply, an order has only two numbers or two texts.',
  conditions: 'when is one expression, with or without ${{ }}; null, false, 0 and the empty text are false.',
  texts: 'A text that is one expression keeps the type of its value; in others values are joined; what was put in is not read again.',
  commands: 'A command is split into words as a shell does before values are put in; a value is always one word, and null is an error.',
  'expression-errors': 'An expression that cannot be read is an error that says where and what was expected; length and depth are bounded, and nothing else is ever thrown.',
}
