import { host } from '../../call/host.ts'

/** How long compiled code is, and a number of each of its pages: V8 trusts what it is given. Its text is written into bundles, so it refers to nothing but its parameter. */
export function sealOf(data: Uint8Array): string {
  let sum = data.length
  for (let at = 0; at < data.length; at += 4096) sum = (sum * 31 + data[at]!) % 1e9
  return `${data.length} ${sum}`
}

/** Compiled code as it lies beside its bundle: the first line says for which bundle, which node and which machine it is; `seal` stands at its end. `launch` reads it. */
export function sealCode(
  data: Uint8Array,
  id: string,
): { readonly content: Uint8Array; readonly seal: string } {
  const seal = sealOf(data)
  return {
    content: Buffer.concat([
      Buffer.from(`toolable code 1 ${id} ${host.version} ${host.arch} ${seal}\n`),
      data,
    ]),
    seal,
  }
}
