import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { host } from '../../call/host.ts'
import { runChild } from '../../process/run-child.ts'
import { findPackage } from '../find-package.ts'
import type { Surroundings } from '../look/look.ts'
import { inTemporary } from '../temporary.ts'

/** What becomes one executable together with node: the script that it starts, and what that reads. */
export type SingleParts = {
  readonly main: string
  readonly assets: { readonly [name: string]: Uint8Array }
}

const LONGEST_MS = 300_000
// What node looks for in itself, and postject sets.
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** Makes sure that one executable can be made here, before anything else is done, and gives a function that makes it. Throws CONFIG where system or node cannot, DEPENDENCY where 'postject' is missing. */
export function prepareExecutable(
  entry: string,
  { cwd, env, signal }: Surroundings,
): (parts: SingleParts) => Promise<Uint8Array> {
  // Elsewhere the file has to be signed anew after it was changed, which nobody has tried with these programs.
  if (host.platform !== 'linux')
    throw new ToolError(
      'CONFIG',
      `one executable can be made on Linux only so far; this is ${host.platform}`,
      { suggestion: 'Build without --single: the program then needs a node that is installed' },
    )
  if (!readFileSync(host.node).includes(`${FUSE}:0`))
    throw new ToolError(
      'CONFIG',
      `${host.node} cannot become part of a program: it was built without single executable applications`,
      { suggestion: 'Build with a node from nodejs.org' },
    )
  const postject = findPackage('postject', 'postject/dist/cli.js', entry, 'one executable')
  const whole = Object.fromEntries(
    Object.entries(env).filter((each): each is [string, string] => each[1] !== undefined),
  )
  const run = async (what: string, ...args: string[]): Promise<void> => {
    const { status, stdout, stderr } = await runChild({
      command: [host.node, ...args],
      cwd,
      env: whole,
      timeout: LONGEST_MS,
      ...(signal && { signal }),
    })
    if (status !== 0)
      throw new ToolError('DEPENDENCY', `${what} failed (${status ?? 'it was ended'})`, {
        retryable: false,
        details: { output: `${stdout.toString()}${stderr.toString()}`.trim().slice(-2000) },
      })
  }
  return ({ main, assets }) =>
    inTemporary(async (folder) => {
      const at = (name: string): string => join(folder, name)
      for (const [name, content] of Object.entries(assets)) writeFileSync(at(name), content)
      writeFileSync(at('main.cjs'), main)
      writeFileSync(
        at('config.json'),
        JSON.stringify({
          main: at('main.cjs'),
          output: at('blob'),
          disableExperimentalSEAWarning: true,
          assets: Object.fromEntries(Object.keys(assets).map((name) => [name, at(name)])),
        }),
      )
      await run('node --experimental-sea-config', '--experimental-sea-config', at('config.json'))
      copyFileSync(host.node, at('program'))
      chmodSync(at('program'), 0o755)
      await run(
        'postject',
        postject,
        at('program'),
        'NODE_SEA_BLOB',
        at('blob'),
        '--sentinel-fuse',
        FUSE,
      )
      return readFileSync(at('program'))
    })
}
