import { host } from '../../call/host.ts'

/** Compiled code as it lies beside its bundle: the first line says for which bundle, which node and which machine it is; `seal`, at its end, how long it is and what is in it. `launch` reads it. */
export function sealCode(data: Uint8Array, id: string): { readonly content: Uint8Array; readonly seal: string } {
  let sum = data.length
  for (let at = 0; at < data.length; at += 4096) sum = (sum * 31 + data[at]!) % 1e9
  const seal = `${data.length} ${sum}`
  return { content: Buffer.concat([Buffer.from(`toolable code 1 ${id} ${host.version} ${host.arch} ${seal}\n`), data]), seal }
}
