// `node scripts/lint-and-types.mjs`: the compiler and the linter over everything, with one understanding of the types: each alone would work it out anew.
import { ESLint } from 'eslint'
import ts from 'typescript'

// The browser app and its tests know the page, and nothing else does; the examples that are JavaScript are held to their comments.
const PROJECTS = [
  'tsconfig.json',
  'examples/tsconfig.json',
  'dashboard/tsconfig.json',
  'test/dashboard/tsconfig.json',
]

const programs = PROJECTS.map(readProgram)
const problems = programs.flatMap((program) => [...ts.getPreEmitDiagnostics(program)])
if (problems.length > 0)
  console.error(
    ts.formatDiagnosticsWithColorAndContext(ts.sortAndDeduplicateDiagnostics(problems), {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: ts.sys.getCurrentDirectory,
      getNewLine: () => '\n',
    }),
  )
console.log(
  `types: ${problems.length === 0 ? 'passed' : 'FAILED'} after ${(performance.now() / 1000).toFixed(1)} s`,
)

const eslint = new ESLint({
  overrideConfig: {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: false, programs } },
  },
})
const results = await eslint.lintFiles(['.'])
const said = await (await eslint.loadFormatter('stylish')).format(results)
if (said !== '') console.error(said)
const isClean = results.every(({ errorCount, warningCount }) => errorCount + warningCount === 0)
console.log(
  `lint: ${isClean ? 'passed' : 'FAILED'} after ${(performance.now() / 1000).toFixed(1)} s`,
)
process.exitCode = problems.length === 0 && isClean ? 0 : 1

function readProgram(path) {
  const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(
    path,
    { noEmit: true },
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic(problem) {
        throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'))
      },
    },
  )
  if (errors.length > 0)
    throw new Error(ts.flattenDiagnosticMessageText(errors[0].messageText, '\n'))
  return ts.createProgram(fileNames, options)
}
