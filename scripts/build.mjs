// Builds dist/. A start must be cheap, so the code is cut by what a start needs: `core` is what
// every program loads, `library` what it may use besides, `call` what a call adds, `help`
// what help adds, `common` what both need, `flags` what reading flags needs, `schema` what compiled
// schemas need; everything else is a chunk of its own that loads when it is needed.
// See docs/decisions/2026-11-15-chunks-by-what-a-start-needs.md.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { rolldown } from 'rolldown'
import { build as buildApp } from 'vite'
import { buildItself } from './build-itself.mjs'
import { recordReach } from './reach.mjs'
import { reachableFrom } from './static-imports.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const next = `dist-${process.pid}`
try {
  mkdirSync(next)
  await bundleInside()
  await bundleModule('src/zod.ts')
  await buildApp({
    configFile: 'dashboard/vite.config.ts',
    build: { outDir: resolve(next, 'dashboard') },
  })
  chmodSync(`${next}/bin.js`, 0o755)
  buildItself(next)
  // `node scripts/build.mjs code`, for whoever tries things out: the types take longer than
  // everything else, and stay as they were.
  if (process.argv[2] === 'code' && existsSync('dist/types'))
    cpSync('dist/types', `${next}/types`, { recursive: true })
  else buildTypes()
  // Swapped at the end, so that whoever runs the old build at this moment can go on.
  const old = `${next}-old`
  if (existsSync('dist')) renameSync('dist', old)
  renameSync(next, 'dist')
  rmSync(old, { recursive: true, force: true })
} finally {
  rmSync(next, { recursive: true, force: true })
}

function buildTypes() {
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', `${next}/types`],
    { stdio: 'inherit' },
  )
  if (status !== 0) throw new Error('The types could not be built')
}

async function bundleInside() {
  const reach = recordReach()
  const build = await rolldown({
    input: {
      index: 'src/index.ts',
      testing: 'src/testing/index.ts',
      bin: 'src/bin.ts',
      'load-hooks': 'src/functions/hooks.ts',
      built: 'src/bundler/built/index.ts',
      look: 'src/bundler/inspect-process.ts',
    },
    platform: 'node',
    external: (id) => isExternal(id) && !id.startsWith('node:') && !id.startsWith('\0'),
    treeshake: { moduleSideEffects: false },
    preserveEntrySignatures: 'allow-extension',
    plugins: [builtins(), reach.plugin],
    onLog(level, log, handle) {
      // A file may be loaded late by one and at once by another that is late itself.
      if (log.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') handle(level, log)
    },
  })
  const { output } = await build.generate({
    format: 'esm',
    sourcemap: true,
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
    entryFileNames: '[name].js',
    comments: false,
    chunkFileNames: 'inside/[name]-[hash].js',
    codeSplitting: { includeDependenciesRecursively: false, groups: listGroups() },
  })
  const chunks = output.filter(({ type }) => type === 'chunk')
  for (const chunk of chunks) await writeSmall(chunk)
  writeFileSync(`${next}/reach.json`, JSON.stringify(reach.table(chunks)))
}

// White space costs reading too. Lines stay short and names stay whole, because a stack trace shows
// both.
async function writeSmall({ fileName, code, map }) {
  const inline = !map
    ? ''
    : `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map.toString()).toString('base64')}`
  const small = await transform(`${code.replace(/\n\/\/# sourceMappingURL=.*/, '')}\n${inline}\n`, {
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    sourcemap: 'external',
    sourcefile: fileName,
    sourcesContent: true,
    target: 'node20.19',
    legalComments: 'none',
  })
  const file = `${next}/${fileName}`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${small.code}//# sourceMappingURL=${basename(fileName)}.map\n`)
  writeFileSync(`${file}.map`, small.map)
}

// In order of need: a file belongs to the first group that reaches it.
function listGroups() {
  const call = reach('src/cli/call.ts', 'src/core/engine.ts')
  const help = reach('src/cli/help.ts')
  // A client waits for a server that it has started.
  const mcp = reach('src/cli/run-builtin.ts', 'src/mcp/serve.ts', 'src/mcp/server.ts')
  const needed = new Set([
    ...call,
    ...help,
    ...reach(
      'src/define/flag-input.ts',
      'src/define/schema/compile.ts',
      'src/bundler/built/index.ts',
    ),
  ])
  const groups = {
    core: new Set([
      ...reach(
        'src/cli/toolset.ts',
        'src/core/tool.ts',
        'src/cli/run.ts',
        'src/cli/documents.ts',
        'src/cli/discovery.ts',
        'src/core/host.ts',
        'src/util/text.ts',
      ),
      ...[...reach('src/index.ts')].filter((file) => needed.has(file)),
    ]),
    // What else the library offers: an entry that is built has none of it, unless it uses it.
    library: reach('src/index.ts'),
    // What help and calls both need.
    common: new Set([...help].filter((file) => call.has(file))),
    call,
    help,
    // How the texts of flags become values, which needs no compiled schema.
    flags: reach('src/define/flag-input.ts'),
    schema: reach('src/define/schema/compile.ts'),
    // The flags of servers, which `toolable` knows without being one.
    serving: reach('src/http/serving-flags.ts'),
    // What a registry reads over a folder that it knows.
    registry: reach('src/registry/registry.ts'),
    // What it adds where one of its tools is described or called.
    foreign: reach('src/registry/folder/define-tool.ts'),
    toolable: reach('src/commands/main.ts', 'src/commands/list.ts'),
    // What servers on stdin have in common.
    wire: new Set([...reach('src/cli/serve-calls.ts')].filter((file) => mcp.has(file))),
    mcp,
  }
  // The entry itself stays apart: a chunk that others load exports what they need, and an entry
  // only what is public.
  groups.library.delete(resolve('src/index.ts'))
  // The bundler's own helpers, and what every start needs of node.
  const always = /^\0(rolldown|node:(fs|path|url|util)$)/
  return Object.entries(groups).map(([name, files], index, { length }) => ({
    name,
    test: (id) =>
      files.has(id) || (name === 'core' && (always.test(id) || id.includes('rolldown'))),
    priority: length - index,
  }))
}

function reach(...files) {
  return files.reduce((seen, file) => reachableFrom(file, seen), new Set())
}

async function bundleModule(input) {
  const build = await rolldown({ input, platform: 'node', external: isExternal })
  await build.write({ dir: next, format: 'esm', sourcemap: true, entryFileNames: '[name].js' })
}

// The validator of plain JSON Schema is bundled: as a package it is nine files.
function isExternal(id) {
  return !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('@cfworker/')
}

// An `import` of node:fs loads all of node:stream for exports that nobody names; what is asked of
// getBuiltinModule is only what is used. `import()` gets the whole module: what is used of it is
// not known here.
function builtins() {
  // What the bundler's own helpers ask for.
  const names = new Map([['node:module', new Set(['createRequire'])]])
  for (const file of readdirSync('src', { recursive: true }).filter((f) => f.endsWith('.ts'))) {
    for (const [, clause, id] of readFileSync(`src/${file}`, 'utf8').matchAll(
      /^import (?!type)([^'"]+) from '(node:[^']+)'/gm,
    )) {
      const set = names.get(id) ?? names.set(id, new Set()).get(id)
      for (const [, name] of (/{([^}]*)}/.exec(clause)?.[1] ?? '').matchAll(/(\w+)(?: as \w+)?/g))
        set.add(name)
    }
  }
  return {
    name: 'builtins',
    resolveId: {
      order: 'pre',
      handler: (id, _importer, { kind }) =>
        names.has(id) && kind !== 'dynamic-import' ? `\0${id}` : undefined,
    },
    load: (id) =>
      id.startsWith('\0node:')
        ? `const m = process.getBuiltinModule('${id.slice(1)}'); export default m; export const { ${[...names.get(id.slice(1))].join(', ')} } = m`
        : undefined,
  }
}
