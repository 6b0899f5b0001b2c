import type { RegistryOptions } from 'toolable'

/** What a source offers in the suite: real programs, manifests or servers with three tools. */
export type Prepared = {
  readonly options: RegistryOptions
  /** The names under which the registry has them. */
  readonly names: { readonly echo: string; readonly refuse: string; readonly wait: string }
  stop?(): Promise<void>
}

/**
 * One kind of source. `echo` takes `{text, count?, loud?}` and gives its input back, `refuse` takes
 * `{}` and fails with a message that holds "no such thing",
 * `wait` takes `{seconds}`, sleeps that long and gives `{waited: seconds}`.
 */
export type SourceFixture = {
  readonly name: string
  /** The tools say nothing about their input, so that nothing can be refused before they run. */
  readonly open?: true
  /** The input travels as one argument, which cannot be larger than the system allows. */
  readonly small?: true
  /** Puts everything into the empty folder and says how a registry gets it. */
  prepare(folder: string): Promise<Prepared>
}
