// What `npm run bench start` starts and nobody keeps: our programs as `toolable build` makes them,
// and the peers in one file each.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { here } from '../install-peers.mjs'

/** A folder for programs, which goes when this process ends. */
export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  // A file without extension is no module here.
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}')
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(here('..'), join(folder, 'node_modules/toolable'))
  return folder
}

/** Builds a program with `toolable build`; gives its path and the milliseconds that took. */
export function buildOurs(entry, folder, name, argv = []) {
  const begin = performance.now()
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [here('../dist/bin.js'), 'build', entry, '--out', folder, '--name', name, ...argv],
    { env: { PATH: process.env.PATH, HOME: folder }, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`${name} could not be built:\n${stdout}${stderr}`)
  return { program: join(folder, name), milliseconds: performance.now() - begin }
}

/**
 * A module and all that it imports as one file, by esbuild alone; gives its path and the
 * milliseconds that took.
 */
export async function bundleBare(entry, folder, name) {
  const begin = performance.now()
  const outfile = join(folder, `${name}.mjs`)
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    minify: true,
    logLevel: 'silent',
    banner: {
      js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
    },
  })
  return { program: outfile, milliseconds: performance.now() - begin }
}

/** The source of a program of so many tools, each with a schema and a function of its own. */
export function writeMany(count, folder) {
  const file = join(folder, `many-${count}.mjs`)
  const tools = Array.from(
    { length: count },
    (_, index) =>
      `tool({ name: 'greet_${index}', summary: 'Greet somebody in way ${index}', input: { type: 'object', properties: { name: { type: 'string', description: 'Whom to greet' }, loud: { type: 'boolean', default: false }, kind: { enum: ['short', 'long'], default: 'short' } }, required: ['name'] }, run: ({ name }) => ({ text: 'Hello ' + name }) })`,
  )
  writeFileSync(
    file,
    `import { tool, toolset } from 'toolable'\nawait toolset({ name: 'many', version: '1.0.0', tools: [\n${tools.join(',\n')}\n] }).run(import.meta)\n`,
  )
  return file
}
