// Builds dist/. Few files to open are a fast start, so the code is cut by what a start needs: `core` is what every program loads, `cli` what a
// call from the command line adds, and everything else is a chunk of its own that loads when it is needed.
import { spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { reachableFrom } from './static-imports.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const next = `dist-${process.pid}`
try {
  await bundle()
  const types = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', `${next}/types`], { stdio: 'inherit' })
  if (types.status !== 0) throw new Error('The types could not be built')
  // Swapped at the end, so that whoever runs the old build at this moment can go on.
  const old = `${next}-old`
  if (existsSync('dist')) renameSync('dist', old)
  renameSync(next, 'dist')
  rmSync(old, { recursive: true, force: true })
} finally {
  rmSync(next, { recursive: true, force: true })
}

async function bundle() {
  const core = reachableFrom('src/index.ts')
  // The entry itself stays apart: a chunk that others load exports what they need, and an entry only what is public.
  core.delete(resolve('src/index.ts'))
  const cli = reachableFrom('src/surfaces/cli/run.ts', reachableFrom('src/surfaces/cli/start-call.ts'))
  const build = await rolldown({
    input: Object.fromEntries(['index', 'zod', 'bin'].map((name) => [name, `src/${name}.ts`]).filter(([, file]) => existsSync(file))),
    platform: 'node',
    // The validator of plain JSON Schema is bundled: as a package it is nine files.
    external: (id) => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('@cfworker/'),
    treeshake: { moduleSideEffects: false },
    preserveEntrySignatures: 'allow-extension',
  })
  await build.write({
    dir: next,
    format: 'esm',
    sourcemap: true,
    minify: { compress: true, codegen: true, mangle: false },
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        { name: 'core', test: (id) => core.has(id), priority: 2 },
        { name: 'cli', test: (id) => cli.has(id), priority: 1 },
      ],
    },
  })
}
