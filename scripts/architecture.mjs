// The arrows of the house, once: the linter and test/architecture both read this table.
import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const sourceRoot = fileURLToPath(new URL('../src/', import.meta.url))

/**
 * Which layers each layer builds on directly; what those build on is allowed too. `*` is
 * everything.
 */
export const arrows = {
  util: [],
  protocol: ['util'],
  // The table of output formats is below `define`, because the flag --output offers its names.
  'cli/formats': ['protocol'],
  define: ['protocol', 'cli/formats'],
  core: ['define'],
  functions: ['core'],
  // One folder per transport. They are siblings: a command line can start a server, and a server
  // describes the same commands.
  cli: ['core', 'functions', 'mcp', 'http', 'docs', 'install'],
  mcp: ['core', 'functions', 'cli', 'http', 'docs'],
  http: ['core', 'functions', 'cli', 'mcp', 'docs'],
  docs: ['core', 'functions', 'cli', 'http'],
  install: ['core', 'functions', 'cli', 'mcp', 'http', 'docs'],
  process: ['protocol', 'sandbox'],
  sandbox: ['process'],
  registry: ['core', 'functions', 'process'],
  'views/model': ['protocol'],
  runner: ['registry', 'views/model'],
  workflow: ['runner'],
  prompts: ['core', 'registry'],
  agent: ['prompts'],
  views: ['views/model', 'cli', 'workflow'],
  testing: ['cli', 'workflow', 'agent', 'views'],
  bundler: ['cli', 'process'],
  commands: ['*'],
  'zod.ts': ['define'],
  'index.ts': ['cli', 'workflow', 'agent', 'views', 'testing'],
  'bin.ts': ['*'],
}

/**
 * Files that may use the globals `process` and `console`; everything else takes `Io` as a
 * parameter.
 */
export const processFiles = [
  'src/bin.ts',
  'src/cli/process-io.ts',
  'src/cli/process-screen.ts',
  'src/cli/run.ts',
  'src/core/host.ts',
  'src/util/lock-file.ts',
  'src/process/host.ts',
  // The JavaScript half of a built program, and the process that looks at one.
  'src/bundler/launchers.ts',
  'src/bundler/inspect-process.ts',
  // These stand between the process and the handlers, which cannot be told to take a parameter.
  'src/core/call-scope.ts',
  'src/cli/stray-output.ts',
  'src/testing/stray-output.ts',
]

/**
 * The layer of a file in src/, the longest name that fits, or undefined outside src/ and for a file
 * that has no layer.
 */
export function layerOf(file) {
  const path = relative(sourceRoot, file).split(sep).join('/')
  return Object.keys(arrows)
    .filter((layer) => path === layer || path.startsWith(`${layer}/`))
    .sort((left, right) => right.length - left.length)[0]
}

/** Every layer that a layer may import, itself included, sorted. */
export function allowedLayers(layer) {
  const seen = new Set()
  const visit = (name) => {
    if (seen.has(name)) return
    seen.add(name)
    for (const next of arrows[name].includes('*') ? Object.keys(arrows) : arrows[name]) visit(next)
  }
  visit(layer)
  return [...seen].sort()
}

/** Why `importer` may not import `imported` (absolute paths in src/), or undefined where it may. */
export function explainForbiddenImport(importer, imported) {
  const from = layerOf(importer)
  if (from === undefined)
    return `${relative(sourceRoot, importer)} belongs to no layer; add it to scripts/architecture.mjs`
  const to = layerOf(imported)
  const allowed = allowedLayers(from)
  if (to !== undefined && allowed.includes(to)) return undefined
  return `${from} may not import ${to ?? relative(sourceRoot, imported)}; it may import ${allowed.join(', ')}`
}
