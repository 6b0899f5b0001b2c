/**
 * The promises of section 9 of the specification about how workflows are written, checked and
 * shown.
 */
export const WORKFLOW_DEFINITION: { readonly [name: string]: string } = {
  values:
    '${{ }} gives input, results of steps, workflow.id and items by keys and positions; what is not there is null, and only own keys count.',
  operators:
    'Expressions have == != < <= > >= && || ! and parentheses: == compares JSON deeply, an order has only two numbers or two texts.',
  conditions:
    'when is one expression, with or without ${{ }}; null, false, 0 and the empty text are false.',
  texts:
    'A text that is one expression keeps the type of its value; in others values are joined; what was put in is not read again.',
  commands:
    'A command is split into words as a shell does before values are put in; a value is always one word, and null is an error.',
  'expression-errors':
    'An expression that cannot be read is an error that says where and what was expected; length and depth are bounded, and nothing else is ever thrown.',
  definition:
    'A workflow in YAML, JSON or data is read into one form, every short form written out; that form goes through unchanged and has one hash.',
  'definition-problems':
    'What is wrong with a workflow is told all at once (20 at most), each with file, line, path and what was probably meant, as CONFIG; nothing else is ever thrown.',
  'definition-code':
    'A file of code is the workflow that it exports, on the command line and in the configuration; where it fails, its line is told as CONFIG.',
  'definition-schema':
    'schemas/toolable.workflow.schema.json comes from the table that the reader follows, and both agree.',
  references:
    'An expression leads only to steps that come before it and can be seen, to fields of the input and to items around it; later, circular and unknown ones are refused.',
  'nested-files':
    'A workflow may name others by their files, from its own folder on; they are read in, and workflows that contain each other are refused with the whole circle.',
  'workflow-validate':
    'toolable workflow validate tells every problem with its line, unknown tools and inputs that cannot fit them or nested workflows included, and exits 78; --no-tools leaves the tools out.',
  'workflow-plan':
    'toolable workflow plan shows every step in its order with its key, needs and limits, and works out what follows from an input.',
  'workflow-graph':
    'toolable workflow graph prints a Mermaid flowchart, the same for the same workflow, whatever texts it holds.',
  'workflow-names':
    'A workflow is a file, or the name of one in the folder workflows beside the configuration.',
}
