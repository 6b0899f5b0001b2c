// `node scripts/lint-and-types.mjs`: Prettier, the compiler and the linter over the repository. The
// compiler and the linter share one program, because building it is most of the cost.
import { spawnSync } from 'node:child_process'
import { ESLint } from 'eslint'
import ts from 'typescript'

// The browser app and its tests know the page, and nothing else does; the examples that are
// JavaScript are held to their comments.
const PROJECTS = [
  'tsconfig.json',
  'examples/tsconfig.json',
  'dashboard/tsconfig.json',
  'test/dashboard/tsconfig.json',
]

const format = spawnSync(
  process.execPath,
  ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', '--cache', '.'],
  { stdio: 'inherit' },
)
console.log(`format: ${format.status === 0 ? 'passed' : 'FAILED; run npm run format'}`)

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
process.exitCode = format.status === 0 && problems.length === 0 && isClean ? 0 : 1

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
