/** The promises about `toolable build` and the programs that it makes. */
export const BUILD: { readonly [name: string]: string } = {
  'build-same':
    'A built program prints what its sources print, byte for byte: as a shell script, under node, through a link, from another folder, and in a folder of ES modules.',
  'build-shell':
    'Help, version, discovery and manifests are answered by a POSIX shell without starting node; whatever is not the plain case is left to node.',
  'build-no-node': 'Where there is no node, a built program says so and exits with 127.',
  'build-entries':
    'An entry runs a toolset, or exports a toolset, tools or plain functions; one that does none of it is refused with what to do.',
  'build-registry':
    'A registry lists and calls a built program by the manifest in its file, without running it before.',
  'build-cache':
    'Compiled code that is missing, cut off, garbage or of another node is not used, and nothing else changes.',
  'build-zod':
    'Schemas of zod are built only where the JSON Schema cannot tell; messages and values stay the same.',
  'build-frozen':
    'What a program says about itself is written down only where it says the same in other surroundings.',
  'build-carries':
    'A built program carries what it can reach and nothing else of the package, and all that it can reach works: servers, documents, registries, runs, workflows, agents.',
  'build-refused':
    'An entry that cannot be bundled or loaded is refused with file, line and exit status, and what was built before stays.',
  'build-disk-full':
    'A build that finds no space ends with DISK_FULL and exit status 73, leaves nothing half-written, and the program before goes on.',
  'build-shells': 'A built program runs in dash, bash, zsh and BusyBox alike, with any argument.',
  'build-cut-off': 'A program whose bundle is missing or cut off names the file and exits with 78.',
  'build-external':
    'A package that stays outside of the bundle, native code among them, is looked for beside the program, and one that is missing is named with what to do and exit status 69.',
  'build-lazy':
    'A call runs one script of compiled code: zod, YAML, documents and servers are not compiled, and modules of node for them are not loaded.',
  'build-single':
    'With --single a program is one executable with node in it that runs where nothing is installed; where it cannot be made, that is said before anything is built.',
  'build-portable': 'What is built with --portable names no path of the machine that built it.',
  'build-itself':
    'The command toolable is built by its own builder, and says and does what its modules say and do: questions, calls, runs, workflows, servers, builds; installed by npm, without its compiled code and without a folder to keep any.',
  'build-whole':
    'A file of a built program is whole or not there, and builds at the same time do not disturb each other.',
}
