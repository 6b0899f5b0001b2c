// The ways to execute a workflow of three trivial steps that are compared.
import { bare } from './bare.mjs'
import { embedded } from './embedded.mjs'

/**
 * Each opens on a folder, and gives a function that executes one workflow to its end, and one that
 * closes; `around` tells the CPU (µs) and memory (MB) of processes besides its own.
 */
export const engines = {
  embedded,
  bare,
  restate: async (folder) => (await import('./restate.mjs')).restate(folder),
}
