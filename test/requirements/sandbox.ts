/** The promises of section 7 about how a tool is held: its sandbox, its limits and its end. */
export const SANDBOX: { readonly [name: string]: string } = {
  'sandbox-abilities':
    'What a machine can enforce is found by trying to get out of a sandbox of exactly the kind that tools get.',
  'sandbox-reads':
    'A tool reads nothing of the machine but its system, its own folder, its workspace and what it was granted, by whatever name.',
  'sandbox-writes':
    'A tool writes nowhere but into its workspace, its private temporary folder and what it was granted; elsewhere it fails.',
  'sandbox-leaks':
    'A tool inherits no variables, descriptors or processes of its starter, and runs no code outside.',
  'sandbox-calls':
    'System calls that lead out of a sandbox are refused, and foreign ones kill the tool.',
  'sandbox-network': 'A tool reaches no server, or any where that was granted.',
  'sandbox-grants':
    'Granted places are there, those that can be written are made where they are missing, and what cannot be given is refused before start.',
  'sandbox-secrets': 'Files of secrets exist only inside, in memory, for the tool alone.',
  'sandbox-user':
    'A tool is never root: what root starts becomes another user, to whom its workspace belongs.',
  'sandbox-refused': 'Where there is no sandbox, nothing that needs one is started.',
  'sandbox-exits':
    'Ends through a sandbox are told as without one: statuses, signals, and what could not be started.',
  'attacks-control':
    'Each attack succeeds where nothing is in its way, so that it is the sandbox that stops it elsewhere.',
  'limit-memory': 'The memory of the whole tree is held to its limit, within a quarter of it.',
  'limit-cgroup':
    'Where a control group was given into our hands the kernel holds the memory of a tree, otherwise a watchdog; found by trying, told alike, and no group is left.',
  'limit-processor':
    'The processor time of the whole tree is held to its limit, that of the dead included.',
  'limit-processes': 'The number of processes is held down, whatever else the user runs.',
  'limit-workspace':
    'What a workspace takes on the disk is held to its limit: files, inodes and what was deleted but is still open.',
  'ends-asked': 'The tool itself is asked to end, and everything is killed after the grace.',
  'ends-everything':
    'Nothing of a tool outlives it, not what became a daemon and ignores every request.',
  'ends-with-us': 'When the runner is killed, its tools die.',
  'leaves-nothing': 'Runs leave no processes, mounts or folders behind.',
}
