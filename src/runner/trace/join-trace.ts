/** The trace that a run belongs to: that of its caller where the environment names one, else a new one. `traceparent` is for the tool, with the run as its parent. */
export function joinTrace(env: { readonly [name: string]: string | undefined }): { readonly trace_id: string; readonly traceparent: string } {
  const [, trace = env['TRACE_ID'] ?? randomHex(16), flags = '01'] = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/.exec(env['TRACEPARENT'] ?? '') ?? []
  return { trace_id: trace, traceparent: `00-${/^[0-9a-f]{32}$/.test(trace) ? trace : randomHex(16)}-${randomHex(8)}-${flags}` }
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
}
