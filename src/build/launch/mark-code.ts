import { host } from '../../call/host.ts'

/** Compiled code with a first line that says for which bundle, which node and which machine it is, and how long it is: `launch` reads it. */
export function markCode(data: Uint8Array, id: string): Uint8Array {
  return Buffer.concat([Buffer.from(`toolable code 1 ${id} ${host.version} ${host.arch} ${data.length} ${checksum(data)}\n`), data])
}

// As `launch` computes it.
function checksum(data: Uint8Array): number {
  let sum = data.length
  for (let at = 0; at < data.length; at += 512) sum = (sum * 31 + data[at]!) % 1e9
  return sum
}
