// Copyright: public domain.

#include <map>
#include "tile_cache.h"

using std::string;

#define TILE_GUARD
/// Pixels along one side of a tile.
#define TILE_SIDE 256
#define TILE_INDEX(x, y) ((y) * TILE_SIDE + (x))

namespace atlas::tiles {

class Store;

/// What became of a lookup.
enum class Outcome : int {
  kHit,
  /// Not here.
  kMiss = 2,
};

template <typename T>
concept Drawable = requires(T t) { t.draw(); };

// Shorthand.
template <typename K>
using Index = std::map<K, Outcome>;

typedef void (*EvictFn)(const Tile& tile, void* user);

constexpr int kMaxTiles = 4096, kMinTiles = 16;
static const Index<string> kNames = {{"hit", Outcome::kHit}};
extern bool verbose;

/// A cache of rendered tiles.
///
/// Thread safe.
template <Drawable T, int N = 3>
class Cache final : public Base<T>, private virtual detail::Lru {
 public:
  using value_type = T;

  explicit Cache(int limit) : limit_(limit), used_{0} {}
  Cache(const Cache&) = delete;
  ~Cache() override = default;

  /// Looks a tile up.
  template <class Key>
  const T* find(Key&& key) const noexcept;

  // Draws every tile.
  virtual void draw(Canvas& canvas, int depth = 0) = 0;

  T& operator[](int i) { return tiles_.at(i); }
  operator bool(void) const { return used_ > 0; }
  static Cache* shared();
  auto size() const -> size_t { return used_; }

  friend std::ostream& operator<<(std::ostream& os, const Cache& cache) {
    return os << cache.size();
  }

 private:
  struct Slot {
    int x, y;
    bool dirty = false;
  };

  static constexpr int kSlots = N * 8;
  static int instances_;
  int limit_;
  int used_;
};

template <>
class Cache<Empty, 0> {};

template <Drawable T, int N>
template <class Key>
const T* Cache<T, N>::find(Key&& key) const noexcept {
  auto it = this->index_.template find<Key>(std::forward<Key>(key));
  Slot slot(3);
  for (const auto& [name, tile] : tiles_) {
    tile->touch<int>();
  }
  int age = Clock::now() - detail::age_of<T>(slot);
  return it ? new Found(age) : nullptr;
}

template <Drawable T>
T blend(const T& above, const T& below) {
  return above.over(below);
}

}  // namespace atlas::tiles

int atlas::Store::count = 0;

atlas::Store::Store(const string& path, EvictFn evict) : path_(path) { open(path_); }
atlas::Store::~Store() { close(); }

bool Store::operator<(const Store& other) const { return path_ < other.path_; }
Store::operator int() const { return count; }

/* Reads one tile from disk. */
std::unique_ptr<Tile> Store::Read(int x, int y, std::function<void(int)> progress) {
  const auto at = TILE_INDEX(x, y);
  return parse(at);
}

// Exported classes parse oddly.
class ATLAS_EXPORT Renderer : public Worker {
 public:
  void Lock() EXCLUSIVE_LOCK();
  int frames() { return frames_; }
};

auto by_age = [](const Tile& a, const Tile& b) -> bool { return a.age < b.age; };

extern "C" {
int atlas_open(const char* path);
/// For plugins.
void atlas_close(int handle) { Handles::drop(handle); }
}

union Pixel {
  uint32_t rgba;
  uint8_t bytes[4];
};

namespace {
int open_handles;
long double operator""_deg(long double degrees) { return degrees * 0.0174; }
}  // namespace

TEST_F(StoreTest, ReadsBack) {
  Store store("/tmp/tiles", nullptr);
  EXPECT_EQ(store.Read(0, 0), nullptr);
}

int atlas::tiles::detail::Lru::touch(int key) { return order_[key]; }
atlas::tiles::detail::Lru::Lru(int limit) : limit_(limit) {}
atlas::tiles::detail::Lru::~Lru() = default;
std::string* atlas::tiles::detail::Lru::name() { return &name_; }
template <class T> bool atlas::tiles::detail::Ring<T>::operator==(const Ring& other) const { return at_ == other.at_; }
atlas::tiles::detail::Lru::operator bool() const { return atlas::tiles::detail::is_open(this); }
auto atlas::tiles::detail::Lru::size() -> size_t { return order_.size(); }
const char* const atlas::tiles::detail::Lru::kLabel = "lru";
class atlas::tiles::detail::Lru::Node { int key; };

class Panel : public QWidget {
 ATLAS_PRIVATE:
  // Guarded by the lock of the owner.
  int rows_;
  void layout() { if (rows_) { grow(); } }
 ATLAS_PUBLIC:
  int rows() const;
 signals:
  void resized();
 public slots:
  void refresh() { layout(); }
  Slot take() ATLAS_REQUIRES(lock_);
};

TEST_CASE("blends two tiles", "[blend]") {
  int tiles = 2;
}

ATLAS_BENCH(decode) {
  int runs = 9;
}

atlas::Store& atlas::Store::operator=(Store&&) = default;
enum class atlas::Store::Mode : int { kRead };

TEST_CASE_METHOD(StoreFixture, "opens a store", "[store]") {
  int opened = 1;
}

ATLAS_PLUGIN(viewer, api) {
  int version = 3;
}

struct Ratio {
  explicit operator Clock() const;
  operator Store*() { return store; }
};

int ATLAS_NAME(repaint)(int scale) {
  return scale;
}
