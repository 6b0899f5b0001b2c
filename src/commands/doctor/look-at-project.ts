import { loadPolicies } from '../../process/policy/load-policies.ts'
import { findFile } from '../config/find-file.ts'
import { readConfig } from '../config/load.ts'
import type { Finding, Where } from './finding.ts'
import { fixOf } from './finding.ts'

/** The files that decide what tools there are and what they may do, and whether they are understood. */
export async function lookAtProject({ cwd, env }: Where): Promise<readonly Finding[]> {
  return [
    await look('config', async () => {
      const file = findFile(cwd, undefined)
      if (file === undefined) return 'none; tools come from ./tools'
      await readConfig(file)
      return file
    }),
    await look('policies', async () => {
      const { layers } = await loadPolicies(cwd, env)
      const files = [...new Set(layers.map(({ file }) => file))]
      return files.length === 0
        ? 'none; manifests may ask for anything but the whole network and servers of this machine'
        : files.join(', ')
    }),
  ]
}

async function look(id: string, find: () => Promise<string>): Promise<Finding> {
  try {
    return { id, part: 'project', status: 'ok', found: await find() }
  } catch (error) {
    return {
      id,
      part: 'project',
      status: 'broken',
      found: (error as Error).message,
      ...fixOf(error),
    }
  }
}
