import type { Identity } from './identity.ts'

/** A file that exists only in the sandbox. */
export type MadeFile = {
  readonly path: string
  readonly content: string
  readonly encoding?: 'latin1'
}

/** Where programs look for the home of the tool. */
export const HOME = '/tmp/home'

/** What a tool is told about users and names: there is only itself, and this machine. `hosts` is absent where the names of the real machine count. */
export function madeFiles({ uid, gid }: Identity, hosts: string | undefined): MadeFile[] {
  return [
    {
      path: '/etc/passwd',
      content: `root:x:0:0:root:/:/bin/sh\ntool:x:${uid}:${gid}:tool:${HOME}:/bin/sh\n`,
    },
    { path: '/etc/group', content: `root:x:0:\ntool:x:${gid}:\n` },
    {
      path: '/etc/nsswitch.conf',
      content: `passwd: files\ngroup: files\nhosts: files${hosts === undefined ? ' dns' : ''}\nservices: files\nprotocols: files\n`,
    },
    ...(hosts === undefined ? [] : [{ path: '/etc/hosts', content: hosts }]),
  ]
}
