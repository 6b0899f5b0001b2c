/** What the network of a tool promises. */
export const EGRESS: { readonly [name: string]: string } = {
  'egress-exact':
    'A tool reaches exactly the servers that it was granted, by name and port, with whatever client, and nothing else: no other port, host, address, protocol, socket or name server.',
  'egress-refused':
    'A server that refuses or resets is heard of inside, and every connection is told to the runner, made or not.',
  'egress-relay':
    'Connections are passed on byte for byte: halves close one by one, slow readers slow writers down, resets are passed on, last words arrive, and their number is bounded.',
  'egress-addresses':
    'The addresses of a granted name are asked for once; those of this machine, of links and of the secrets of clouds are refused.',
  'egress-leaves-nothing':
    'After a run with servers no process, listener, connection or file is left.',
}

/** What `toolable doctor` promises. */
export const DOCTOR: { readonly [name: string]: string } = {
  'doctor-tries':
    'toolable doctor says what the machine can enforce by trying it: level, each mechanism, granted servers, Node, folder, clock, space, configuration and policies.',
  'doctor-fixes':
    'What is missing or broken comes with a fix; the exit status is 1 where something is broken or the wanted level is not reached.',
}
