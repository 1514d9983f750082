/// Acts as MPI for rank 0: every other rank contributes what this one does, and every message has arrived at once.
/// Handles are addresses, as in Open MPI.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <mpi.h>

#include "counting/calls.h"

namespace convoy::counting {

namespace {

SimulatedJob job_of_rank_0;
bool has_ended = false;
std::size_t next_group = 0;
std::deque<std::vector<int>> groups;  // of world ranks; a handle is the address of a group

const std::vector<int>& members_of(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return groups.front();
  return *reinterpret_cast<const std::vector<int>*>(comm);
}

MPI_Comm make_group(std::vector<int> members) {
  return reinterpret_cast<MPI_Comm>(&groups.emplace_back(std::move(members)));
}

int size_of(MPI_Datatype type) {
  return type == MPI_BYTE                            ? 1
         : type == MPI_DOUBLE || type == MPI_INT64_T ? 8
         : type == MPI_INT || type == MPI_FLOAT      ? 4
                                                     : 0;
}

std::size_t bytes_of(int count, MPI_Datatype type) {
  if (size_of(type) == 0) throw std::logic_error("a type that this MPI does not know");
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size_of(type));
}

// Every request is complete as soon as it is started.
int done(MPI_Request* request) {
  ++calls().mpi;
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

void copy(const void* from, void* to, std::size_t bytes) {
  if (from != MPI_IN_PLACE && bytes > 0) std::memmove(to, from, bytes);
}

}  // namespace

Calls& calls() {
  static Calls counted;
  return counted;
}

void simulate(SimulatedJob job) {
  job_of_rank_0 = std::move(job);
  has_ended = false;
  next_group = 0;
  groups.clear();
  std::vector<int> world(static_cast<std::size_t>(job_of_rank_0.ranks));
  std::iota(world.begin(), world.end(), 0);
  groups.push_back(std::move(world));
}

void end_mpi() {
  has_ended = true;
}

}  // namespace convoy::counting

using namespace convoy::counting;  // NOLINT(google-build-using-namespace): this file is its other half

// NOLINTBEGIN: names are MPI's
extern "C" {

int MPI_Finalized(int* flag) {
  *flag = has_ended ? 1 : 0;
  return MPI_SUCCESS;
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  *size = static_cast<int>(members_of(comm).size());
  return MPI_SUCCESS;
}
int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  const std::vector<int>& members = members_of(comm);
  *rank = static_cast<int>(std::find(members.begin(), members.end(), 0) - members.begin());
  return MPI_SUCCESS;
}
int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) {
  return MPI_SUCCESS;
}
int MPI_Comm_split(MPI_Comm, int, int, MPI_Comm* part) {
  *part = make_group(job_of_rank_0.groups.at(next_group++));
  return MPI_SUCCESS;
}
int MPI_Comm_split_type(MPI_Comm comm, int, int, MPI_Info, MPI_Comm* part) {
  std::vector<int> on_the_node;
  for (const int rank : members_of(comm))
    if (rank < job_of_rank_0.ranks_a_node) on_the_node.push_back(rank);
  *part = make_group(std::move(on_the_node));
  return MPI_SUCCESS;
}
int MPI_Comm_free(MPI_Comm* comm) {
  ++calls().freed_groups;
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  *group = reinterpret_cast<MPI_Group>(const_cast<std::vector<int>*>(&members_of(comm)));
  return MPI_SUCCESS;
}
int MPI_Group_free(MPI_Group* group) {
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}
int MPI_Group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group, int to[]) {
  const auto& members = *reinterpret_cast<const std::vector<int>*>(from);
  for (int i = 0; i < count; ++i) to[i] = members[static_cast<std::size_t>(ranks[i])];
  return MPI_SUCCESS;
}

int MPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  return done(request);
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int, int, MPI_Comm, MPI_Request* request) {
  std::memset(data, 0, bytes_of(count, type));
  return done(request);
}
int MPI_Test(MPI_Request*, int* complete, MPI_Status*) {
  ++calls().mpi;
  *complete = 1;
  return MPI_SUCCESS;
}
int MPI_Ibarrier(MPI_Comm, MPI_Request* request) {
  return done(request);
}
int MPI_Ibcast(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request* request) {
  return done(request);
}
// All ranks have equal numbers: their sum is a multiple.
int MPI_Iallreduce(const void* values, void* results, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  copy(values, results, bytes_of(count, type));
  if (op == MPI_SUM && type == MPI_INT64_T)
    for (int i = 0; i < count; ++i)
      static_cast<std::int64_t*>(results)[i] *= static_cast<std::int64_t>(members_of(comm).size());
  return done(request);
}
int MPI_Ireduce_scatter_block(const void* values, void* part, int count, MPI_Datatype type, MPI_Op, MPI_Comm,
                              MPI_Request* request) {
  copy(values, part, bytes_of(count, type));
  return done(request);
}
int MPI_Igather(const void* part, int count, MPI_Datatype type, void* all, int, MPI_Datatype, int, MPI_Comm comm,
                MPI_Request* request) {
  for (std::size_t r = 0; r < members_of(comm).size(); ++r)
    copy(part, static_cast<std::byte*>(all) + r * bytes_of(count, type), bytes_of(count, type));
  return done(request);
}
int MPI_Iallgatherv(const void* part, int count, MPI_Datatype type, void* all, const int*, const int offsets[],
                    MPI_Datatype, MPI_Comm comm, MPI_Request* request) {
  const int rank = 0;
  static_cast<void>(comm);
  copy(part, static_cast<std::byte*>(all) + bytes_of(offsets[rank], type), bytes_of(count, type));
  return done(request);
}
int MPI_Allgather(const void* part, int count, MPI_Datatype type, void* all, int, MPI_Datatype, MPI_Comm comm) {
  for (std::size_t r = 0; r < members_of(comm).size(); ++r)
    copy(part, static_cast<std::byte*>(all) + r * bytes_of(count, type), bytes_of(count, type));
  return MPI_SUCCESS;
}
}
// NOLINTEND
