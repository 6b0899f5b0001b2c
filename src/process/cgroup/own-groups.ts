import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { contains } from '../sandbox/paths.ts'

/** The control groups that we are in, the innermost first, as folders; empty where the machine has none of the second version, or shows us only those of others. */
export function listOwnGroups(): readonly string[] {
  try {
    return listFrom(
      readFileSync('/proc/self/mountinfo', 'utf8'),
      readFileSync('/proc/self/cgroup', 'utf8'),
    )
  } catch {
    return []
  }
}

/** The same from the texts of /proc: a mount has its root in its file system and its place before a dash, and its type after it. */
export function listFrom(mounts: string, memberships: string): readonly string[] {
  const own = /^0::(\/.*)$/m.exec(memberships)?.[1]
  const [, root, top] = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(mounts) ?? []
  if (
    own === undefined ||
    root === undefined ||
    top === undefined ||
    own.includes('/..') ||
    !contains(root, own)
  )
    return []
  const groups = [`${top}/${own.slice(root.length)}`.replace(/\/+/g, '/').replace(/\/$/, '')]
  while (groups.at(-1) !== top) groups.push(dirname(groups.at(-1)!))
  return groups
}
