/** What a sandboxed child may see and touch. Everything else is read-only or absent; the runner extends this. */
export type SandboxProfile = {
  /** An empty temporary directory of its own, in memory; nothing else can be written. */
  readonly writable: 'private-tmp'
  readonly network: 'none'
}
