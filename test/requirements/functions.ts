/** Plain functions as tools. */
export const FUNCTIONS = {
  'functions-program':
    'toolable ./tools.ts makes every function that a module exports a tool with the whole command line of a toolset: help, discovery, flags, JSON, MCP, completion.',
  'functions-parameters':
    'Leading texts and numbers are given by position, the properties of an options object by flags, rest parameters as a list; defaults come from the source.',
  'functions-types':
    'Types become schemas: literals, enums, lists, tuples, records, nested, generic and recursive types, dates, addresses, bytes; values are converted on the way.',
  'functions-enums':
    'Numeric enums are offered by name and take their numbers too; the function gets the number, at every depth.',
  'functions-returns':
    'The return type is the output schema; where it says nothing exact there is none, so that no good result is refused.',
  'functions-comments':
    'TSDoc gives summary, description, parameters, limits, flags, errors, annotations and tags; internal functions are no tools.',
  'functions-examples':
    'Examples of a comment are command lines or calls; wrong ones are reported and do no harm.',
  'functions-streams':
    'Generators hand out what they yield as items; what they return, else the items, is the result.',
  'functions-context':
    'A last parameter of the type Context gets the context of the call and is no input.',
  'functions-jsdoc': 'Types in the comments of JavaScript are read as those of TypeScript.',
  'functions-problems':
    'What cannot be a tool is named with file, line, reason and fix; strict mode makes it an error, and a module without tools says why for each export.',
  'functions-cache':
    'What was read is remembered by the contents of the files behind it; broken caches are not trusted, and a second start loads no compiler.',
  'functions-compiler':
    'The compiler is an optional package that is asked for by name, with the command that installs it.',
  'functions-typescript':
    'TypeScript modules run on every supported node, with imports of other TypeScript files, and errors name the lines of the source.',
  'functions-commonjs':
    'CommonJS modules require TypeScript, with and without its ending, and JavaScript modules import it.',
  'functions-tsconfig':
    'paths and baseUrl of a tsconfig.json count when types are read and when the module runs, also where they are extended or of a referenced project; a broken one is told with file and line.',
  'functions-clients':
    'Programs of packages that were not written for this are listed and called by a client of MCP that nobody here wrote.',
  'functions-toolset':
    'toolset({ module }) makes a toolset of the functions of a module, also of the one that it stands in.',
  'functions-registry':
    'A module of plain functions is a source of the registry; functions: true adds those of a module that exports tools.',
  'functions-packages':
    'Packages that were not written for this become command lines and servers with one command.',
  'functions-manifest':
    'What was read of a module is plain data, of which tools can be made without the compiler and without importing the module.',
} as const
