// The data that come with Isobar: Tiny Shakespeare and the test images of MNIST. They are in data/ of the
// source tree and are installed into share/isobar. A program that uses an installed Isobar reads those of this
// installation, also after it was moved together with the program or the shared library. Only programs of a
// build tree read those of the source tree. No code here uses the network.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace isobar {

// Returns $ISOBAR_DATA/tinyshakespeare.txt if it exists, otherwise the file that comes with Isobar. Throws
// Error if that one is missing or was changed (XXH3).
std::filesystem::path find_tiny_shakespeare();

// $ISOBAR_DATA/kjv.txt, the King James Bible as Debian's bible-kjv writes it, which does not come with
// Isobar. Throws Error, with the command that makes the file, where there is none or another (XXH3).
std::filesystem::path find_king_james();

// The folder $ISOBAR_DATA/mnist where it holds the t10k images as find_idx() finds them, else the folder that
// comes with Isobar, which has the 10,000 test images alone. Throws Error as above.
std::filesystem::path find_mnist();

// A file of data, and the XXH3 of its bytes: {"mnist/t10k-labels-idx1-ubyte.gz", "108ab1f06599996f"}.
struct DataFile {
  std::string name, xxh3;
};

// Whether a file of this name comes with Isobar, or is the King James Bible, and these are its bytes. The
// images of MNIST may be gzipped or plain.
bool is_shipped(const DataFile& file);

// The files of a folder of digits that are read: mnist/t10k-…, and mnist/train-… where it has the training
// images. Throws Error where one is missing.
std::vector<DataFile> digit_files(const std::filesystem::path& folder);

// Returns a warning if find_tiny_shakespeare() or find_mnist() found the data of Isobar although the user has
// set ISOBAR_DATA: "ISOBAR_DATA: there is no folder /a; /b, which comes with Isobar, is read instead".
// Otherwise an empty text.
std::string passed_over(const std::filesystem::path& found);

}  // namespace isobar
