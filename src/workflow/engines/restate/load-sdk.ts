import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ToolError } from '../../../contract/tool-error.ts'
import type { RestateSdk } from './sdk-type.ts'

/** The version that runs on every Node that we run on: later ones need functions that Node 20 does not have. */
export const SDK = '@restatedev/restate-sdk@1.12.0'

/** Loads the SDK of the project in `cwd`, or the one beside this package. Throws CONFIG, with the command that installs it. */
export async function loadSdk(cwd: string): Promise<RestateSdk> {
  const file = find(join(cwd, 'package.json')) ?? find(import.meta.url)
  if (file === undefined)
    throw new ToolError(
      'CONFIG',
      `workers for Restate need the package @restatedev/restate-sdk, and it is not installed in ${cwd}`,
      { suggestion: `npm install ${SDK}` },
    )
  let loaded: Partial<RestateSdk>
  try {
    loaded = await import(pathToFileURL(file).href)
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `@restatedev/restate-sdk cannot be loaded: ${(error as Error).message}`,
      { suggestion: `npm install ${SDK}`, cause: error },
    )
  }
  if (!loaded.workflow || !loaded.createEndpointHandler || !loaded.RestatePromise)
    throw new ToolError(
      'CONFIG',
      `${file} is a version of @restatedev/restate-sdk that does not fit`,
      { suggestion: `npm install ${SDK}` },
    )
  return loaded as RestateSdk
}

function find(from: string): string | undefined {
  try {
    return createRequire(from).resolve('@restatedev/restate-sdk')
  } catch {
    return undefined
  }
}
