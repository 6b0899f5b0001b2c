import type { Grants } from '../permissions/grants.ts'

/** What a child may see and touch that is only asked what it is. Everything else is read-only or absent. */
export type ProbeProfile = {
  /** A /tmp of its own, in memory; nothing else can be written. An empty folder in it is the home, the temporary and the working directory of the child. */
  readonly writable: 'private-tmp'
  readonly network: 'none'
  /** Files and folders that are seen, read-only, although they lie where everything is hidden: in homes of users, /tmp or /run. */
  readonly readable?: readonly string[]
}

/** What a tool may see and touch that runs by its manifest. Everything else is absent: no files of users, no other processes, no network. */
export type ToolProfile = {
  readonly grants: Grants
  /** Its own folder, read and write, where it also starts. */
  readonly workspace: string
  /** Folders that it may read besides its grants: where it lies itself, and the cancel file. */
  readonly readable: readonly string[]
  /** Folders that look empty to it although a grant contains them; what it is shown in them is seen all the same. */
  readonly hidden?: readonly string[]
  /** Files that exist only inside, in memory, mode 0400: secrets. */
  readonly files?: readonly { readonly path: string; readonly content: Uint8Array }[]
  /** Where bubblewrap may lie besides the folders of the system: the PATH of whoever starts the tool, never that of the tool, which could name a program of its own. */
  readonly searchPath?: string | undefined
  /** Told of every connection to a server, made or refused. */
  readonly onConnection?: (connection: Connection) => void
}

/** A connection to a server, made or refused. */
export type Connection = {
  readonly host: string
  readonly port: number
  readonly address?: string
  readonly refused?: string
}

export type SandboxProfile = ProbeProfile | ToolProfile

/** Where a child starts that is only asked what it is. */
export const PRIVATE_FOLDER = '/tmp/private'
