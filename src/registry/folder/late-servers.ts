import type { OpenServer, Servers } from './servers-of.ts'

/** Holds the servers of a folder; what that takes is loaded where a manifest names one. */
export function lateServers(open: OpenServer, onChange: () => void): Servers {
  let servers: Promise<Servers> | undefined
  const load = async (): Promise<Servers> =>
    (await import('./servers-of.ts')).createServers(open, onChange)
  return {
    load: async (...given) => (await (servers ??= load())).load(...given),
    keep: async (bodies) => (await servers)?.keep(bodies),
  }
}
