/** What a sandboxed child may see and touch. Everything else is read-only or absent; the runner extends this. */
export type SandboxProfile = {
  /** A /tmp of its own, in memory; nothing else can be written. An empty folder in it is the home, the temporary and the working directory of the child. */
  readonly writable: 'private-tmp'
  readonly network: 'none'
  /** Files and folders that are seen, read-only, although they lie where everything is hidden: in homes of users, /tmp or /run. */
  readonly readable?: readonly string[]
}

/** Where a sandboxed child starts. */
export const PRIVATE_FOLDER = '/tmp/private'
