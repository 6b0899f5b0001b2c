import { vi } from 'vitest'

// A worker takes one file after another. It keeps the modules of the house, and evaluates those of
// the tests anew: their hooks and folders belong to one file.
vi.resetModules()

// What the file before has done to the process goes with it.
type Beginning = { readonly environment: NodeJS.ProcessEnv; readonly folder: string }
const { environment, folder } = ((
  globalThis as { beginningOfWorker?: Beginning }
).beginningOfWorker ??= { environment: { ...process.env }, folder: process.cwd() })
for (const name of Object.keys(process.env))
  if (!Object.hasOwn(environment, name)) delete process.env[name]
Object.assign(process.env, environment)
process.chdir(folder)
process.exitCode = undefined
