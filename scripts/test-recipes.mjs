// Follows every recipe of CONTRIBUTING.md in a copy of the tree: writes the file it shows, adds the
// line to the table it names, builds, and uses what was added. Part of `npm run test:slow`.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/** How what a recipe adds is used, by its heading. Each returns what has to appear in the output. */
const USES = {
  'Add a dashboard screen': useScreen,
  'Add a workflow step kind': useStepKind,
  'Add a generated document': useDocument,
  'Add an output protocol': useProtocol,
  'Add an agent to install into': useAgent,
  'Add an output format': useOutputFormat,
  'Add a global flag': useGlobalFlag,
  'Add a registry source': useSource,
  'Add a model provider': useModelProvider,
  'Add a command': useCommand,
}

/** Returns how many recipes work and how many do not. */
export async function testRecipes() {
  const recipes = readRecipes(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'toolable-recipes-'))
  const copy = join(folder, 'tree')
  try {
    copyTree(copy)
    for (const recipe of recipes) follow(recipe, copy)
    run(copy, process.execPath, ['scripts/build.mjs'])
    let failed = 0
    for (const { title } of recipes) failed += (await works(title, copy, folder)) ? 0 : 1
    return { passed: recipes.length - failed, failed }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function works(title, copy, folder) {
  try {
    const use = USES[title]
    if (!use) throw new Error('scripts/test-recipes.mjs does not use what this recipe adds')
    await use(copy, folder)
    console.log(`recipe '${title}' works`)
    return true
  } catch (error) {
    console.log(`recipe '${title}' FAILED: ${error.message}`)
    return false
  }
}

/**
 * A recipe is a heading `### Add …`, `Write \`<file>\`` with a block of code, and `\`NAME\` in
 * \`<file>\`` with the lines for that table.
 */
function readRecipes(text) {
  const [, section] = /^## Recipes\n([^]*?)(?=^## )/m.exec(text)
  return section
    .split(/^### /m)
    .slice(1)
    .map((recipe) => {
      const title = recipe.slice(0, recipe.indexOf('\n'))
      const file = /Write `([^`]+)`[^]*?```\w*\n([^]*?)\n *```/.exec(recipe)
      const rest = file ? recipe.slice(file.index + file[0].length) : recipe
      const table = /`(\w+)` in `([^`]+)`[^]*?```\w*\n([^]*?)\n *```/.exec(rest)
      if (!table) throw new Error(`the recipe '${title}' names no table`)
      return {
        title,
        file: file && { path: file[1], text: outdent(file[2]) },
        table: { name: table[1], path: table[2], text: outdent(table[3]) },
      }
    })
}

function outdent(text) {
  const indent = /^ */.exec(text)[0]
  return text
    .split('\n')
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join('\n')
}

/** Imports go to the top of the file, everything else to the top of the table. */
function follow({ title, file, table }, copy) {
  if (file) {
    mkdirSync(dirname(join(copy, file.path)), { recursive: true })
    writeFileSync(join(copy, file.path), `${file.text}\n`, { flag: 'wx' })
  }
  const path = join(copy, table.path)
  const lines = table.text.split('\n')
  const imports = lines.filter((line) => line.startsWith('import '))
  const rows = lines.filter((line) => !line.startsWith('import '))
  const text = readFileSync(path, 'utf8')
  const begin = new RegExp(`^(?:export )?const ${table.name}\\b[^=]*=[^\\n]*[{[]\\n`, 'm').exec(
    text,
  )
  if (!begin)
    throw new Error(`the recipe '${title}' names ${table.name}, which ${table.path} does not have`)
  const at = begin.index + begin[0].length
  const withRow = `${text.slice(0, at)}${rows.join('\n')}\n${text.slice(at)}`
  writeFileSync(
    path,
    imports.length === 0 ? withRow : withRow.replace(/^import /m, `${imports.join('\n')}\nimport `),
  )
}

function copyTree(copy) {
  const { stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  const isNeeded = (file) =>
    /^(src|dashboard|scripts|examples|emitters|schemas|docs)\/|^[^/]+$/.test(file)
  for (const file of stdout.split('\0').filter(isNeeded)) cpSync(join(ROOT, file), join(copy, file))
  symlinkSync(resolve(ROOT, 'node_modules'), join(copy, 'node_modules'))
}

function run(cwd, command, args, { env = {}, input = '' } = {}) {
  const { stdout, stderr, status } = spawnSync(command, args, {
    cwd,
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...env },
  })
  if (status !== 0)
    throw new Error(`${[command, ...args].join(' ')} ended with ${status}\n${stdout}\n${stderr}`)
  return stdout
}

function expectText(output, ...wanted) {
  for (const text of wanted)
    if (!output.includes(text)) throw new Error(`'${text}' is missing in:\n${output}`)
}

function toolable(copy, cwd, args, options) {
  return run(cwd, process.execPath, [join(copy, 'dist/bin.js'), ...args], options)
}

function makeProject(folder, name, files) {
  const project = join(folder, name)
  mkdirSync(project)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text)
  return project
}

function useStepKind(copy, folder) {
  const project = makeProject(folder, 'steps', {
    'flow.yaml': 'input: { name: string }\nsteps:\n  - log: hello ${{ input.name }}\n',
  })
  const input = ['--input', '{"name":"you"}']
  expectText(toolable(copy, project, ['workflow', 'validate', 'flow.yaml']), '"ok":true')
  expectText(toolable(copy, project, ['workflow', 'plan', 'flow.yaml', ...input]), 'hello you')
  expectText(toolable(copy, project, ['workflow', 'graph', 'flow.yaml']), 'log')
  expectText(toolable(copy, project, ['workflow', 'run', 'flow.yaml', ...input]), 'hello you')
}

function useDocument(copy) {
  const program = join(copy, 'examples/hello/hello.mjs')
  expectText(run(copy, process.execPath, [program, 'docs', 'hello']), 'hello')
}

function useProtocol(copy) {
  const program = join(copy, 'examples/hello/hello.mjs')
  expectText(run(copy, process.execPath, [program, 'Ada', '--dialect', 'hello']), '{"hello":')
}

function useAgent(copy, folder) {
  const project = makeProject(folder, 'agents', {})
  const program = join(copy, 'examples/hello/hello.mjs')
  const help = run(project, process.execPath, [program, 'mcp', 'add', '--help'])
  expectText(help, 'hello')
  run(project, process.execPath, [program, 'mcp', 'add', '--agent', 'hello', '--yes'])
  expectText(readFileSync(join(project, '.hello/mcp.json'), 'utf8'), 'mcpServers')
}

function useOutputFormat(copy) {
  const program = join(copy, 'examples/file-tools/file-tools.mjs')
  const output = run(copy, process.execPath, [program, 'find-files', 'LICENSE', '-o', 'tsv'])
  expectText(output, 'LICENSE')
  if (output.includes('{')) throw new Error(`it is not tsv:\n${output}`)
  expectText(run(copy, process.execPath, [program, 'find-files', '--help']), 'tsv')
}

function useGlobalFlag(copy, folder) {
  const project = makeProject(folder, 'flags', {
    'program.mjs': `import { tool, toolset } from ${JSON.stringify(join(copy, 'dist/index.js'))}
const who = tool({ name: 'who', summary: 'Who calls', run: (_, ctx) => ctx.caller ?? 'nobody' })
await toolset(who).run(import.meta)
`,
  })
  const program = join(project, 'program.mjs')
  expectText(run(project, process.execPath, [program, '--caller', 'Ada']), '"Ada"')
  expectText(run(project, process.execPath, [program, '--help']), '--caller')
}

function useSource(copy, folder) {
  const project = makeProject(folder, 'sources', { 'toolable.yaml': 'greeters: [Hello]\n' })
  expectText(toolable(copy, project, ['list']), 'greet')
  expectText(toolable(copy, project, ['call', 'greet']), 'Hello')
}

function useModelProvider(copy, folder) {
  const project = makeProject(folder, 'models', {})
  expectText(toolable(copy, project, ['agent', 'Say hello', '--model', 'echo:any']), 'Say hello')
}

function useCommand(copy, folder) {
  const project = makeProject(folder, 'commands', {})
  expectText(toolable(copy, project, ['hello', 'Ada']), 'Ada')
  expectText(toolable(copy, project, ['--help']), 'hello')
}

async function useScreen(copy, folder) {
  const { chromium } = await import('playwright-core')
  const { existsSync } = await import('node:fs')
  const { spawn } = await import('node:child_process')
  const project = makeProject(folder, 'screens', {})
  const server = spawn(process.execPath, [join(copy, 'dist/bin.js'), 'ui', '--port', '0'], {
    cwd: project,
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder },
  })
  const browser = await chromium.launch({
    executablePath: CHROMIUM.find((path) => existsSync(path)),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  try {
    const line = await new Promise((found, fail) => {
      server.once('exit', () => fail(new Error('toolable ui ended')))
      server.stderr.setEncoding('utf8').once('data', found)
    })
    const page = await browser.newPage()
    await page.goto(JSON.parse(line).url)
    await page.getByRole('navigation').getByRole('link', { name: 'Hello' }).click()
    await page.getByRole('heading', { name: 'Hello', level: 1 }).waitFor()
  } finally {
    await browser.close()
    server.kill()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { passed, failed } = await testRecipes()
  console.log(`${passed} passed, ${failed} failed`)
  process.exit(failed === 0 ? 0 : 1)
}
